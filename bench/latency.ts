/**
 * `npm run bench:latency`: the time from a decision to the start of its tool, compared to a hand-written gate (B3), and
 * with 25 viewers who read the status 3,000 times (B6). Times are the server's, from history. The two sides of each
 * pair alternate, so that both meet the same noise. `--json` prints only the numbers; `--pairs N`. Exits with 1 when a
 * budget is exceeded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { WorkflowHandle } from '@temporalio/client';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';
import { replayRuns } from './replay-runs.ts';
import { showSpread, spreadOf } from './spread.ts';
import { openStage, type Stage } from './stage.ts';
import { until } from './until.ts';

const viewers = 25;
const reads = 3_000;
const readEveryMs = 1_000;
const budgets = { b3: 1.15, b6: 1.2 };
const script = '1 asked';

const { values } = parseArgs({ options: { pairs: { type: 'string', default: '60' }, json: { type: 'boolean' } } });
const pairs = Number(values.pairs);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const server = await startDevServer({ uiPort: null, log: say });
try {
  const stage = await openStage({
    address: server.address,
    scripts: { [script]: [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }] },
  });
  await ours(stage);
  await byHand(stage);
  const alone = { ours: [] as number[], byHand: [] as number[] };
  for (let pair = 1; pair <= pairs; pair++) {
    say(`pair ${pair} of ${pairs}`);
    alone.byHand.push(await byHand(stage));
    alone.ours.push(await ours(stage));
  }
  const watched: number[] = [];
  const quiet: number[] = [];
  const answered = { reads: 0 };
  for (let pair = 1; pair <= pairs; pair++) {
    say(`pair ${pair} of ${pairs}, watched: ${answered.reads} reads of ${reads}`);
    quiet.push(await ours(stage));
    watched.push(await ours(stage, { share: Math.ceil(reads / pairs), answered }));
  }
  await stage.close();
  await replayRuns(server.address);
  report({ alone, quiet, watched, reads: answered.reads });
} finally {
  await server.stop();
}

interface Watching {
  /** Status reads while this request waits and is decided. */
  share: number;
  answered: { reads: number };
}

async function ours(stage: Stage, watching?: Watching): Promise<number> {
  const run = await stage.startOurs(script);
  const [open] = await until('an open request', async () => {
    const found = await run.query<{ requestId: string }[]>('approvals');
    return found.length > 0 && found;
  });
  const watched = watching === undefined ? undefined : watch(stage, run, watching);
  // The decision arrives while the viewers read, not before.
  if (watched !== undefined) await sleep(readEveryMs);
  await run.signal('decide', { requestId: open!.requestId, approved: true });
  await run.result();
  await watched;
  return decidedToStartedMs(run);
}

async function byHand(stage: Stage): Promise<number> {
  const run = await stage.startBare('bareGatedRun', script);
  await until('the timer of the gate', async () => {
    const { events } = await run.fetchHistory();
    return (events ?? []).some((event) => event.timerStartedEventAttributes != null);
  });
  await run.signal('decide', { callId: '1.1', approved: true });
  await run.result();
  return decidedToStartedMs(run);
}

/** 25 viewers whose pages read the run once a second, each at its own moment. */
async function watch(stage: Stage, run: WorkflowHandle, { share, answered }: Watching): Promise<void> {
  const view = async (): Promise<void> => {
    await sleep(Math.random() * readEveryMs);
    for (let left = Math.ceil(share / viewers); left > 0; left--) {
      // A read that a busy machine answers too late is not counted.
      await run.query('run').then(
        () => answered.reads++,
        () => undefined,
      );
      await sleep(readEveryMs);
    }
  };
  await Promise.all([stage.client.approvals.list(), ...Array.from({ length: viewers }, view)]);
}

async function decidedToStartedMs(run: WorkflowHandle): Promise<number> {
  const { events = [] } = await run.fetchHistory();
  const decided = events!.find((event) => event.workflowExecutionSignaledEventAttributes != null);
  const scheduled = events!.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'pay');
  const started = events!.find(
    (event) => String(event.activityTaskStartedEventAttributes?.scheduledEventId) === String(scheduled?.eventId),
  );
  const atMs = (event: typeof decided): number =>
    Number(event?.eventTime?.seconds ?? NaN) * 1_000 + (event?.eventTime?.nanos ?? NaN) / 1e6;
  return atMs(started) - atMs(decided);
}

function report(measured: {
  alone: { ours: number[]; byHand: number[] };
  quiet: number[];
  watched: number[];
  reads: number;
}): void {
  const { alone, quiet, watched } = measured;
  const rows = [
    ['gate by hand', spreadOf(alone.byHand)],
    ['countersign', spreadOf(alone.ours)],
    ['countersign, nobody watches', spreadOf(quiet)],
    [`countersign, ${viewers} viewers, ${measured.reads} reads`, spreadOf(watched)],
  ] as const;
  const b3 = rows[1][1].median / rows[0][1].median;
  const b6 = rows[3][1].median / rows[2][1].median;
  if (values.json === true) {
    console.log(
      JSON.stringify({ pairs, rows: Object.fromEntries(rows), reads: measured.reads, b3, b6, budgets }, undefined, 2),
    );
  } else {
    const table = new Table({ head: ['', 'ms: least · median · p99 · most'], style: { head: [], border: [] } });
    for (const [name, spread] of rows) table.push([name, showSpread(spread, 1)]);
    console.log(table.toString());
    console.log(
      `B3: a decision starts its tool in ${b3.toFixed(2)} times the time of a gate by hand (at most ${budgets.b3}).`,
    );
    console.log(`B6: with viewers in ${b6.toFixed(2)} times the time without (at most ${budgets.b6}).`);
  }
  if (b3 > budgets.b3 || b6 > budgets.b6) process.exitCode = 1;
}
