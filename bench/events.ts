/**
 * `npm run bench:events`: the history events that a gated run adds to a hand-written workflow. `--json` prints only the
 * numbers. Exits with 1 when a budget (B1, B2) is exceeded.
 */
import Table from 'cli-table3';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';
import type { EventCounts } from './event-counts.ts';
import { total } from './event-counts.ts';
import type { EventRow } from './measure-events.ts';
import { eventScripts, measureEvents } from './measure-events.ts';
import { replayRuns } from './replay-runs.ts';
import { openStage } from './stage.ts';

/** The purposes of events, in the order of the table. */
const purposes: [string, RegExp][] = [
  ['activity', /^activityTask/],
  ['signal', /Signaled$/],
  ['update', /Update/],
  ['timer', /^timer/],
  ['index', /^(upsertWorkflowSearchAttributes|workflowPropertiesModified)$/],
  ['task', /^workflowTask/],
];

function describe(counts: EventCounts): string {
  const of = (kinds: RegExp): number =>
    total(Object.fromEntries(Object.entries(counts).filter(([kind]) => kinds.test(kind))));
  return purposes.flatMap(([purpose, kinds]) => (of(kinds) === 0 ? [] : [`${of(kinds)} ${purpose}`])).join(', ');
}

const server = await startDevServer({ uiPort: null, log: (line) => process.stderr.write(`${line}\n`) });
try {
  const stage = await openStage({ address: server.address, scripts: eventScripts });
  const { once, rows } = await measureEvents(stage);
  await stage.close();
  await replayRuns(server.address);
  if (process.argv.includes('--json')) console.log(JSON.stringify({ once, rows }, undefined, 2));
  else print(once, rows);
  if (rows.some(({ addedTotal, budget = Infinity }) => addedTotal > budget)) process.exitCode = 1;
} finally {
  await server.stop();
}

function print(once: EventCounts, rows: EventRow[]): void {
  const head = ['run', 'bare', 'gate by hand', 'countersign', 'added', 'budget', 'added for'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { name, bare, handWrittenGate = '', ours, addedTotal, budget = '', added } of rows) {
    table.push([name, bare, handWrittenGate, ours, addedTotal, budget, describe(added)]);
  }
  console.log(table.toString());
  console.log(
    `added: beyond the bare run, without the ${total(once)} events that each run has once, for countersign.loadAgent`,
  );
  console.log(`(${describe(once)}), and without tasks that only tell of one more tool that ended beside others.`);
}
