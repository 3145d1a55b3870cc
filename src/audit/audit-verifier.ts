/** Checks an export line by line, without a server. It keeps in memory only the runs whose head it has not read yet. */
import type { JournalHead } from '../core/ledger/journal-entry.ts';
import { auditFormat, type EndLine, type ExportLine, type RunLine, type SealedLine } from './audit-line.ts';
import type { AuditVerdict, RunToRule, VerifierOptions, AuditFinding, FindingKind } from './finding.ts';
import { RunCheck, type RunFinding } from './check-run.ts';
import { readLine } from './read-line.ts';
import { type TreeState, emptyTree, rootOf, withLeaf } from '../core/ledger/merkle.ts';
import { lineLeaf, sealText } from './entry-line.ts';

/** The order of several findings at one line: causes come first. */
const ranks: readonly FindingKind[] = [
  'unreadable',
  'foreign',
  'edited',
  'signature',
  'reordered',
  'repeated',
  'deleted',
];

const mostFindings = 100;

export class AuditVerifier {
  readonly #options: VerifierOptions;
  readonly #findings: AuditFinding[] = [];
  readonly #notes: string[] = [];
  readonly #runs = new Map<number, RunCheck>();
  readonly #closed = new Set<number>();
  /** The runs of the export, by `runKey`. */
  readonly #seen = new Set<string>();
  readonly #heads = new Map<string, JournalHead>();
  readonly #ruled = new Map<number, RunToRule>();
  #chain: ChainCheck | undefined;
  #export: ExportLine | undefined;
  #lines = 0;
  #runCount = 0;
  #entries = 0;
  readonly #rulings: AuditVerdict['rulings'] = { agreed: 0, notMade: {} };
  #ended = false;
  #last = 'no line';
  #brokenAt: { workflowId?: string; seq?: number } = {};

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /** Checks the next line of the file. `problem` says why its text could not be read. */
  take(read: { text: string } | { problem: string }): void {
    const number = ++this.#lines;
    if (this.#ended)
      return this.#addFinding(number, { kind: 'foreign', message: 'there is a line after the end of the export' });
    const found = 'problem' in read ? read : readLine(read.text);
    if ('problem' in found) {
      return this.#addFinding(number, { kind: 'unreadable', message: `the line cannot be read: ${found.problem}` });
    }
    const { line } = found;
    if (number === 1) this.#checkFirstLine(line);
    // Look the run up first, because its last line removes it.
    const workflowId = 'run' in line ? this.#runs.get(line.run)?.run.workflowId : undefined;
    const wrong = this.#dispatch(line);
    if (wrong !== undefined) this.#addFinding(number, wrong, workflowId);
    const wasWhole = this.#chain?.broken === undefined;
    this.#chain?.take(number, line);
    if (wasWhole && this.#chain?.broken !== undefined) this.#brokenAt = placeOf(line);
    this.#last = nameOfLine(line);
  }

  /** Returns the verdict. Call this after the last line. */
  end(): AuditVerdict {
    if (!this.#ended) {
      const message = `the file ends after ${this.#last}: the rest of the export was cut off`;
      this.#addFinding(this.#lines + 1, { kind: 'cut off', message });
    }
    for (const key of this.#options.since?.keys() ?? []) {
      if (!this.#seen.has(key)) this.#notes.push(`run '${workflowIdIn(key)}' of the older export is not in this one`);
    }
    const { broken } = this.#chain ?? {};
    if (broken !== undefined) this.#findings.push({ ...broken, ...this.#brokenAt });
    const findings = orderFindings(this.#findings);
    const signedBy = this.#publicKey;
    return {
      ok: findings.length === 0,
      findings: findings.slice(0, mostFindings),
      notes: this.#notes,
      lines: this.#lines,
      runs: this.#runCount,
      entries: this.#entries,
      rulings: this.#rulings,
      ...(signedBy !== undefined && { signedBy }),
      heads: this.#heads,
    };
  }

  /** Checks the format and the key of the first line. Begins the check of the chain of lines. */
  #checkFirstLine(line: SealedLine): void {
    if (line.line !== 'export') {
      this.#addFinding(1, { kind: 'deleted', message: 'the first line of the export is missing' });
    } else if (line.format !== auditFormat) {
      const message = `the export has another format than ${auditFormat}, which this verifier knows`;
      this.#addFinding(1, { kind: 'unreadable', message });
    } else {
      this.#export = line;
    }
    const { publicKey } = this.#options;
    const named = this.#export?.publicKey;
    if (publicKey !== undefined && named !== publicKey) {
      const message = named === undefined ? 'the export is not signed' : `the export is signed with the key ${named}`;
      this.#addFinding(1, { kind: 'signature', message });
    }
    this.#chain = new ChainCheck({ publicKey: this.#publicKey, isSigned: this.#options.isSigned });
  }

  get #publicKey(): string | undefined {
    return this.#options.publicKey ?? this.#export?.publicKey;
  }

  /** Checks a line by its kind, and where it is in its run. Returns what is wrong, if anything. */
  #dispatch(line: SealedLine): RunFinding | undefined {
    if (line.line === 'export') {
      return this.#lines === 1 ? undefined : { kind: 'foreign', message: 'another export begins here' };
    }
    if (line.line === 'end') return this.#closeExport(line);
    if (line.line === 'run') return this.#openRun(line);
    if (this.#closed.has(line.run)) return { kind: 'foreign', message: 'the line comes after the head of its run' };
    const check = this.#runs.get(line.run);
    if (check === undefined)
      return { kind: 'deleted', message: `the line of run ${line.run} is missing before this one` };
    switch (line.line) {
      case 'gap':
        return check.gap(line);
      case 'entry':
        this.#entries += 1;
        this.#ruled.get(line.run)?.entries.push(line);
        return check.entry(line);
      case 'head':
        return this.#finishRun(line.run, check, check.close(line));
      case 'evidence':
        this.#ruled.get(line.run)?.evidence.push(line);
        return undefined;
      case 'activity':
        return undefined;
    }
  }

  /** Begins the check of a run. A finding if another run of the export had this number. */
  #openRun(run: RunLine): RunFinding | undefined {
    if (this.#runs.has(run.run) || this.#closed.has(run.run))
      return { kind: 'repeated', message: `run ${run.run} begins a second time` };
    this.#runCount += 1;
    this.#seen.add(runKey(run));
    const check = new RunCheck(this.#export?.namespace ?? '', run, this.#options.since?.get(runKey(run)));
    this.#runs.set(run.run, check);
    if (this.#options.ruleAgain !== undefined) this.#ruled.set(run.run, { run, entries: [], evidence: [] });
    return undefined;
  }

  /** Ends the check of a run at its last line, and rules on its calls again. Returns `wrong`, its own finding. */
  #finishRun(runNumber: number, check: RunCheck, wrong: RunFinding | undefined): RunFinding | undefined {
    const { run, head, notes } = check;
    if (head !== undefined && wrong === undefined) this.#heads.set(runKey(run), head);
    const toRule = this.#ruled.get(runNumber);
    const answer = toRule && this.#options.ruleAgain?.(toRule);
    for (const { seq, message } of answer?.findings ?? []) {
      this.#addFinding(this.#lines, { kind: 'ruling', message, seq }, run.workflowId);
    }
    this.#rulings.agreed += answer?.agreed ?? 0;
    const { notMade } = this.#rulings;
    for (const why of answer?.notMade ?? []) notMade[why] = (notMade[why] ?? 0) + 1;
    for (const note of notes) this.#notes.push(`run '${run.workflowId}': ${note}`);
    this.#ruled.delete(runNumber);
    this.#runs.delete(runNumber);
    this.#closed.add(runNumber);
    return wrong;
  }

  /** Ends the export. A finding if a run has no head, or if its counts differ from the lines before it. */
  #closeExport({ runs, entries }: EndLine): RunFinding | undefined {
    this.#ended = true;
    const [open] = this.#runs.values();
    if (open !== undefined) return { kind: 'deleted', message: `the head of run '${open.run.workflowId}' is missing` };
    if (runs === this.#runCount && entries === this.#entries) return undefined;
    const message = `the export has ${runs} runs and ${entries} entries, and ${this.#runCount} and ${this.#entries} are here`;
    return { kind: 'deleted', message };
  }

  #addFinding(line: number, { kind, message, seq }: RunFinding, workflowId?: string): void {
    this.#findings.push({ line, kind, message, ...(workflowId !== undefined && { workflowId }), ...(seq && { seq }) });
  }
}

function placeOf(line: SealedLine): { workflowId?: string; seq?: number } {
  return line.line === 'entry' ? { workflowId: line.workflowId, seq: line.entry.seq } : {};
}

function nameOfLine(line: SealedLine): string {
  const { size } = line.proof;
  return line.line === 'entry' ? `line ${size}, entry ${line.entry.seq} of run '${line.workflowId}'` : `line ${size}`;
}

/** Sorts findings by line, then by `ranks`. An entry missing in one place and repeated further down was `reordered`. */
function orderFindings(found: readonly AuditFinding[]): AuditFinding[] {
  const rank = ({ kind }: AuditFinding): number => (ranks.includes(kind) ? ranks.indexOf(kind) : ranks.length);
  const repeated = found.filter(({ kind }) => kind === 'repeated');
  const lastPlaces = new Map(repeated.map((finding) => [entryOf(finding), finding.line]));
  const isMoved = (finding: AuditFinding): boolean =>
    finding.kind === 'deleted' && finding.seq !== undefined && (lastPlaces.get(entryOf(finding)) ?? 0) > finding.line;
  return found
    .map((finding) => (isMoved(finding) ? { ...finding, kind: 'reordered' as const } : finding))
    .sort((one, other) => one.line - other.line || rank(one) - rank(other));
}

function entryOf({ workflowId = '', seq }: AuditFinding): string {
  return `${seq} ${workflowId}`;
}

/** Returns a key that identifies a run in every export. */
function runKey({ workflowId, firstRunId }: Pick<RunLine, 'workflowId' | 'firstRunId'>): string {
  return `${firstRunId} ${workflowId}`;
}

function workflowIdIn(key: string): string {
  return key.slice(key.indexOf(' ') + 1);
}

/** The first break of the chain. No further one is reported, because no line after a break fits. */
type ChainBreak = Pick<AuditFinding, 'line' | 'kind' | 'message'>;

/** Checks each line against the Merkle tree over the lines before it. */
class ChainCheck {
  readonly #options: Pick<VerifierOptions, 'publicKey' | 'isSigned'>;
  #tree: TreeState = emptyTree;
  #broken: (ChainBreak & { lost?: number }) | undefined;

  /** Every line must be signed with `publicKey`. If that is undefined, no line may have a signature. */
  constructor(options: Pick<VerifierOptions, 'publicKey' | 'isSigned'>) {
    this.#options = options;
  }

  /** The first break of the chain, if any. A missing line that turns up later changes its kind to `reordered`. */
  get broken(): ChainBreak | undefined {
    if (this.#broken === undefined) return undefined;
    const { lost: _, ...broken } = this.#broken;
    return broken;
  }

  /** Checks a line. After a break, it only looks for the line that was missing there. */
  take(number: number, line: SealedLine): void {
    const { proof } = line;
    if (this.#broken !== undefined) {
      if (proof.size !== this.#broken.lost) return;
      // This is the line that was missing at the break.
      const message = `the line that belongs here is line ${number} now`;
      this.#broken = { line: this.#broken.line, kind: 'reordered', message };
      return;
    }
    const next = withLeaf(this.#tree, lineLeaf(line));
    const wrong = this.#problem(line, next);
    if (wrong === undefined) this.#tree = next;
    else this.#broken = { line: number, ...wrong };
  }

  /** Returns what is wrong with a line, if anything. `next`: the tree with it; `lost`: the first missing line. */
  #problem(line: SealedLine, next: TreeState): (Omit<ChainBreak, 'line'> & { lost?: number }) | undefined {
    const { proof } = line;
    const { size } = next;
    if (proof.size > size) {
      const last = proof.size - 1;
      const what = last === size ? `line ${size} is` : `lines ${size} to ${last} are`;
      return { kind: 'deleted', message: `${what} missing before this one`, lost: size };
    }
    if (proof.size < size) {
      return { kind: 'repeated', message: `this is line ${proof.size} of the export, which has been here already` };
    }
    if (rootOf(next) !== proof.root) return { kind: 'edited', message: 'the line is not what the exporter wrote' };
    if (this.#isSigned(line)) return undefined;
    const how = proof.signature === undefined ? 'is not signed' : 'is not signed with this key as it is here';
    return { kind: 'signature', message: `the line ${how}` };
  }

  #isSigned({ proof }: SealedLine): boolean {
    const { publicKey, isSigned } = this.#options;
    if (publicKey === undefined) return proof.signature === undefined;
    return proof.signature !== undefined && isSigned(publicKey, sealText(proof), proof.signature);
  }
}
