import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The workflow code of some executions: a bundle, or a module that exports workflows. */
export type ReplayBundle = ({ codePath: string } | { workflowsPath: string }) & {
  /** The plugins of its worker: Countersign's (default), Countersign's and another one, or none. */
  plugins?: 'none' | 'with ai-sdk' | 'with openai-agents';
};

export interface ReplayOptions {
  address: string;
  /**
   * Each execution is replayed with the bundle that it ran with. Executions of other bundles are in
   * `ReplayReport.skipped`.
   */
  bundles: readonly ReplayBundle[];
  /** A folder for histories that do not replay; created if needed. Default: `test/failed-replays`. */
  keepIn?: string;
  /** Only executions that match this visibility query. Default: all. */
  query?: string;
}

export interface FailedReplay {
  workflowId: string;
  runId: string;
  error: string;
  /** Holds the history, as `temporal workflow show --output json` writes it. */
  file: string;
}

export interface ReplayReport {
  /** Executions that the server listed, open and closed, in all namespaces. */
  listed: number;
  replayed: number;
  /** How many were not replayed, by reason. */
  skipped: Record<string, number>;
  failed: FailedReplay[];
  /** The rulings in the histories that were replayed, made again by what each history keeps. */
  rulings: ReRuledHistories;
  /** How long it took. */
  seconds: number;
}

export interface ReRuledHistories {
  agreed: number;
  differing: { workflowId: string; runId: string; sentence: string }[];
  /** How many were not made again, by reason. */
  notReRuled: Record<string, number>;
}

/** Of how many processes each replays its part of the executions. Two on one core take as long as one. */
const processes = availableParallelism() > 2 ? 2 : 1;

/**
 * The argument of one of the processes, which reads the bundles from its standard input. It replays its part of the
 * executions of each bundle that is built already: those whose run id, as a number, leaves the remainder `part` when
 * divided by `of`. One process alone builds and replays each other bundle.
 */
export interface ReplayPart extends Omit<ReplayOptions, 'bundles'> {
  part: number;
  of: number;
}

/** What one of the processes reports. */
export interface PartReport extends ReplayReport {
  /** The workflow types of all executions that are of no bundle of this process, by build id. */
  left: Record<string, string[]>;
}

/**
 * Replays the histories of all executions of a server, open and closed, on workers without a cache in processes of their
 * own (I12). Each reads one history at a time. Call it while the server runs and after its workers have stopped:
 *
 *     const report = await replayServer({ address, bundles: [{ codePath }] });
 *     for (const line of replayLines(report)) log(line);
 *     if (report.failed.length > 0) process.exitCode = 1;
 */
export async function replayServer({ bundles, ...options }: ReplayOptions): Promise<ReplayReport> {
  const parts = Array.from({ length: processes }, (_, part) => ({ ...options, part, of: processes }));
  return sumOf(await Promise.all(parts.map((part) => replayPart(part, bundles))));
}

function sumOf(parts: readonly PartReport[]): ReplayReport {
  const [first, ...others] = parts.map(({ left }) => left);
  const skipped: Record<string, number> = {};
  for (const [buildId, types] of Object.entries(first!)) {
    if (!others.every((left) => buildId in left)) continue;
    for (const type of types) {
      const reason = `made with a workflow bundle that is not given: ${type}`;
      skipped[reason] = (skipped[reason] ?? 0) + 1;
    }
  }
  return {
    listed: parts.reduce((sum, { listed }) => sum + listed, 0),
    replayed: parts.reduce((sum, { replayed }) => sum + replayed, 0),
    skipped: parts.reduce((sum, part) => added(sum, part.skipped), skipped),
    failed: parts.flatMap(({ failed }) => failed),
    rulings: {
      agreed: parts.reduce((sum, { rulings }) => sum + rulings.agreed, 0),
      differing: parts.flatMap(({ rulings }) => rulings.differing),
      notReRuled: parts.reduce((sum, { rulings }) => added(sum, rulings.notReRuled), {}),
    },
    seconds: Math.max(...parts.map(({ seconds }) => seconds)),
  };
}

async function replayPart(part: ReplayPart, bundles: ReplayOptions['bundles']): Promise<PartReport> {
  const script = fileURLToPath(new URL('./replay-server-main.ts', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(part)], { stdio: 'pipe' });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4_000)));
  const closed = once(child, 'close') as Promise<[number | null]>;
  // Writing fails if the process has ended; its output says why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(bundles));
  const [code] = await closed;
  if (code !== 0) throw new Error(`the histories of ${part.address} were not replayed: ${errors.trim()}`);
  return JSON.parse(output) as PartReport;
}

function added(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sums = { ...one };
  for (const [name, count] of Object.entries(other)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

/** The report as text: a line of counts, then a line for each skip reason and each failure. */
export function replayLines({ listed, replayed, skipped, failed, rulings, seconds }: ReplayReport): string[] {
  const [bySkips, skips] = counted(skipped);
  const { agreed, differing, notReRuled } = rulings;
  const [byReasons, left] = counted(notReRuled);
  return [
    `Histories: ${listed} read, ${replayed} replayed, ${failed.length} failed, ${skips} skipped, ${seconds} s.`,
    ...bySkips.map(([reason, count]) => `  skipped ${count}: ${reason}`),
    ...failed.map(({ workflowId, runId, error, file }) => `  ${workflowId} (${runId}): ${error}\n    ${file}`),
    `Rulings: ${agreed} agree, ${differing.length} differ, ${left} not made again.`,
    ...byReasons.map(([reason, count]) => `  not made again ${count}: ${reason}`),
    ...differing.map(({ workflowId, runId, sentence }) => `  ${workflowId} (${runId}): ${sentence}`),
  ];
}

/** The most frequent first, and their sum. */
function counted(counts: Record<string, number>): [[string, number][], number] {
  const all = Object.entries(counts).toSorted(([, one], [, other]) => other - one);
  return [all, all.reduce((sum, [, count]) => sum + count, 0)];
}
