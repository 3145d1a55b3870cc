import { escapeText } from 'countersign/base';
import type { CountersignClient, PolicyOutcome, PolicyResult, SetPolicyMessage } from 'countersign/client';
import { canAsk, confirm } from '../base/ask-on-terminal.ts';
import { UsageError, untilInterrupted, type Output, type ExitCode } from '../base/output.ts';
import { startProgressLine } from '../dev-server/progress-line.ts';
import { signerOf, type ReviewerOptions, type SignerOptions } from '../base/reviewer.ts';
import { renderTable } from '../base/table.ts';
import type { CommonOptions } from '../base/command-line.ts';
import type { Mode } from 'countersign/policy';

export interface ApplyOptions extends CommonOptions, ReviewerOptions, SignerOptions {
  mode?: Mode;
  channels?: string[];
  all?: boolean;
  query?: string;
  dryRun?: boolean;
  yes?: boolean;
}

type Results = AsyncIterable<PolicyResult>;

const mostNamed = 20;

/** Shows the open runs that a query finds, asks once, and changes their policy. Ctrl-C stops after the current run. */
export async function applyToRuns(
  client: CountersignClient,
  output: Output,
  message: Omit<SetPolicyMessage, 'signature'>,
  options: ApplyOptions,
): Promise<void> {
  const { query, yes = false, dryRun = false } = options;
  if (!yes && !dryRun && !canAsk()) {
    throw new UsageError(
      'No terminal can ask whether to go on: add --yes to change all these runs without a question, or --dry-run to see them.',
    );
  }
  const sending = { query, ...signerOf(options) };
  if (dryRun || !yes) {
    const { results: found } = await collect(client.setPolicyOfRuns(message, { ...sending, dryRun: true }), 'Looking');
    if (dryRun) return printDryRun(output, found);
    if (!(await confirmRuns(output, found))) return;
  }
  const stop = new AbortController();
  void untilInterrupted().then(() => stop.abort());
  const sent = client.setPolicyOfRuns(message, { ...sending, signal: stop.signal });
  const { results, failure } = await collect(sent, 'Applying', (result) => {
    if (!output.forPeople) output.json(result);
  });
  const notable = results.filter(({ outcome }) => outcome !== 'applied' && outcome !== 'unchanged');
  if (output.forPeople) for (const each of notable) output.line(renderResult(output, each));
  output.tell(summaryOf(results));
  if (stop.signal.aborted) output.tell('Stopped. Give the command again to go on: no run is changed twice.');
  else if (results.length > 0)
    output.tell('Runs that start from now on have the policy of their worker and their agent.');
  if (failure !== undefined) throw failure;
  process.exitCode = stop.signal.aborted ? 130 : exitCodeOf(results);
}

function printDryRun(output: Output, found: readonly PolicyResult[]): void {
  if (!output.forPeople) for (const result of found) output.json(result);
  else if (found.length > 0) output.tell(renderRuns(output, found));
  output.tell(summaryOf(found));
}

/** Shows the runs that would change, and asks. After a no, or if none would, returns false and sets the exit code. */
async function confirmRuns(output: Output, found: readonly PolicyResult[]): Promise<boolean> {
  const affected = found.filter(({ outcome }) => outcome === 'would_apply');
  if (found.length > 0) output.tell(renderRuns(output, affected.slice(0, mostNamed)));
  if (affected.length > mostNamed) output.tell(`… and ${affected.length - mostNamed} more`);
  output.tell(summaryOf(found));
  if (affected.length === 0) {
    process.exitCode = exitCodeOf(found);
    return false;
  }
  const runs = affected.length === 1 ? 'this run' : `these ${affected.length} runs`;
  if (await confirm(`\nApply this to ${runs}?`)) return true;
  output.tell('Nothing was changed.');
  process.exitCode = 1;
  return false;
}

/** Collects results, and calls `take` with each. Returns an error after the first result as `failure`. */
async function collect(
  all: Results,
  label: string,
  take: (result: PolicyResult) => void = () => undefined,
): Promise<{ results: PolicyResult[]; failure?: Error }> {
  const results: PolicyResult[] = [];
  const progress = process.stderr.isTTY ? startProgressLine(`${label}:`, () => undefined) : undefined;
  try {
    for await (const result of all) {
      results.push(result);
      take(result);
      progress?.detail(`${results.length} ${results.length === 1 ? 'run' : 'runs'}`);
    }
    return { results };
  } catch (error) {
    if (results.length === 0 || !(error instanceof Error)) throw error;
    return { results, failure: error };
  } finally {
    progress?.stop();
  }
}

/** The outcomes, in the order of the report. */
const outcomes: readonly PolicyOutcome[] = [
  'would_apply',
  'applied',
  'unchanged',
  'recorded',
  'refused',
  'closed',
  'unanswered',
  'ungated',
  'unsent',
];

/** Returns a summary such as `3 runs: 2 applied (1 request settled), 1 refused`. */
function summaryOf(results: readonly PolicyResult[]): string {
  if (results.length === 0) return 'No open run is found.';
  const settled = results.reduce((sum, each) => sum + (each.settled?.length ?? 0), 0);
  const requests = settled === 0 ? '' : ` (${settled} ${settled === 1 ? 'request' : 'requests'} settled)`;
  const counts = outcomes.flatMap((name) => {
    const count = results.filter(({ outcome }) => outcome === name).length;
    return count === 0 ? [] : [`${count} ${name}${name === 'applied' ? requests : ''}`];
  });
  return `${results.length} ${results.length === 1 ? 'run' : 'runs'}: ${counts.join(', ')}`;
}

function renderResult(output: Output, { workflowId, outcome, message }: PolicyResult): string {
  const mark = outcome === 'closed' || outcome === 'ungated' ? '-' : output.style('red', '✗');
  return `${mark} ${escapeText(workflowId)} ${outcome}: ${escapeText(message)}`;
}

function renderRuns(output: Output, results: readonly PolicyResult[]): string {
  return renderTable(
    output,
    ['RUN', 'TYPE', 'OUTCOME'],
    results.map(({ workflowId, workflowType, outcome }) => [escapeText(workflowId), escapeText(workflowType), outcome]),
    { whole: ['RUN'] },
  );
}

/** Returns 1 if a run refused the change, 6 if one has not applied it; 0 also if runs are closed or have no gate. */
function exitCodeOf(results: readonly PolicyResult[]): ExitCode {
  const has = (...named: PolicyOutcome[]): boolean => results.some(({ outcome }) => named.includes(outcome));
  if (has('refused')) return 1;
  return has('recorded', 'unanswered', 'unsent') ? 6 : 0;
}
