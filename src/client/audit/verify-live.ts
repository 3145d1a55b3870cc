import type { AuditLine, SealedLine } from '../../audit/audit-line.ts';
import type { AuditFinding } from '../../audit/finding.ts';
import { readLine } from '../../audit/read-line.ts';
import { lineLeaf } from '../../audit/entry-line.ts';
import { isProblemError } from '../../core/base/problem.ts';
import { RunLines } from './audit.ts';
import { type AuditedRun, fetchAuditedRun } from './audited-run.ts';
import type { Session } from '../server/session.ts';

/** Compares the lines of an export with the history that the server has now. */
export class LiveComparison {
  readonly #session: Session;
  #withheld: ReadonlySet<string> = new Set();
  #lines = 0;
  readonly #runs = new Map<number, ExportedRun>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Keeps a line of the export, if a later export of the run would repeat it. Call it for each line, in order. */
  take(text: string): void {
    this.#lines += 1;
    const read = readLine(text);
    if ('problem' in read) return;
    const { line } = read;
    if (line.line === 'export') this.#withheld = new Set(line.withheld);
    if (line.line === 'run') {
      const { workflowId, firstRunId } = line;
      this.#runs.set(line.run, { number: line.run, workflowId, firstRunId, lines: new Map() });
    }
    const run = 'run' in line ? this.#runs.get(line.run) : undefined;
    if (run === undefined) return;
    if (line.line === 'entry') run.lastRunId = line.context.runId;
    const key = lineKey(line);
    const seq = line.line === 'entry' ? line.entry.seq : undefined;
    if (key !== undefined) run.lines.set(key, { line: this.#lines, leaf: lineLeaf(line), seq });
  }

  /** Reads the runs from the server, and returns where their histories differ from the export. */
  async end(): Promise<{ findings: AuditFinding[]; notes: string[] }> {
    const findings: AuditFinding[] = [];
    const notes: string[] = [];
    for (const run of this.#runs.values()) {
      const live = await this.#fetch(run);
      if (live === undefined) notes.push(`run '${run.workflowId}' is not on this server any more`);
      else findings.push(...this.#compare(run, live));
    }
    return { findings: findings.sort((one, other) => one.line - other.line), notes };
  }

  /** Finds the exported run: the newest one of its id, or that of an exported execution; undefined if gone. */
  async #fetch({ workflowId, firstRunId, lastRunId }: ExportedRun): Promise<AuditedRun | undefined> {
    for (const runId of [undefined, lastRunId, firstRunId]) {
      try {
        const found = await fetchAuditedRun(this.#session, workflowId, runId);
        const isOurs = lastRunId === undefined || found.executions.some((each) => each.runId === lastRunId);
        if (found.firstRunId === firstRunId && isOurs) return found;
      } catch (error) {
        if (!isProblemError(error) || error.code !== 'run_not_found') throw error;
      }
    }
    return undefined;
  }

  /** Makes the lines of the run again, and reports each exported line that is gone or different. */
  #compare({ number, workflowId, lines }: ExportedRun, run: AuditedRun): AuditFinding[] {
    const live = new Map<string, string>();
    for (const line of new RunLines(number, this.#withheld).part(run, true)) {
      const key = lineKey(line);
      if (key !== undefined) live.set(key, lineLeaf(line));
    }
    const isCutShort = run.tree.before !== undefined;
    return [...lines].flatMap(([key, { leaf, line, seq }]) => {
      const now = live.get(key);
      // The server has removed the oldest events of the run, and the lines about these events cannot be compared.
      if (now === leaf || (isCutShort && (now === undefined || key === 'run'))) return [];
      const what = now === undefined ? 'does not have this line' : 'says something else';
      const message = `the history on the server ${what}`;
      return [{ line, kind: 'live' as const, message, workflowId, ...(seq !== undefined && { seq }) }];
    });
  }
}

interface ExportedRun {
  number: number;
  workflowId: string;
  firstRunId: string;
  /** The execution that has the last exported entry. */
  lastRunId?: string;
  lines: Map<string, { line: number; leaf: string; seq?: number }>;
}

/** Returns a key for a line that a later export of the run repeats; undefined for any other line. */
function lineKey(line: AuditLine | SealedLine): string | undefined {
  if (line.line === 'run') return 'run';
  if (line.line === 'entry') return `entry ${line.entry.seq}`;
  if (line.line === 'evidence') return `evidence ${line.part} ${line.key}`;
  if (line.line === 'activity' && line.state !== 'open') return `activity ${line.runId} ${line.scheduledEventId}`;
  return undefined;
}
