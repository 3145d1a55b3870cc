/**
 * `npm run bench:stream`: a model that writes for 3 seconds, watched by one viewer and by three. Counts the history events
 * of the whole run, and measures how old a token is when a viewer gets it. Beside it, `@temporalio/workflow-streams` on the
 * same work. `--json` prints only the numbers; `--rounds N`. Exits with 1 if viewers add an event to our runs.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Context } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { createClient } from '../../src/client/client.ts';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { startDevServer } from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { createWorker } from '../../src/worker.ts';
import { type Spread, showSpread, spreadOf } from '../spread.ts';
import { pieces, writingModel, writtenAt } from './writing-model.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, json: { type: 'boolean' } } });
const rounds = Number(values.rounds);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The measurements of one run and its viewers. */
interface Watched {
  events: number;
  /** For each update of a viewer: the age of its newest token, in milliseconds. */
  newest: number[];
  /** The age of each token when a viewer got it, in milliseconds. */
  each: number[];
}

const server = await startDevServer({ uiPort: null, log: say });
try {
  const taskQueue = `ours-${randomUUID()}`;
  const agent = defineAgent({ name: 'writer', instructions: 'Write.', model: writingModel() });
  const client = await createClient({ address: server.address, taskQueue });
  const ours = await createWorker({
    address: server.address,
    taskQueue,
    agents: [agent],
    shutdownGraceTime: 500,
    logLevel: 'ERROR',
  });
  const { worker: theirs, taskQueue: theirQueue, connection } = await streamsWorker(server.address);
  const running = Promise.all([ours.run(), theirs.run()]);
  const rows = [];
  for (const viewers of [0, 1, 3]) {
    rows.push(await measure('countersign', viewers, () => watchOurs(client, viewers)));
  }
  for (const batchMs of [250, 100]) {
    for (const viewers of [1, 3]) {
      const watch = () => watchTheirs(client, theirQueue, viewers, batchMs);
      rows.push(await measure(`workflow-streams, a batch each ${batchMs} ms`, viewers, watch));
    }
  }
  ours.shutdown();
  theirs.shutdown();
  await running;
  await connection.close();
  await client.close();
  report(rows);
} finally {
  await server.stop();
}

interface Row {
  name: string;
  viewers: number;
  /** The history events of the whole run: the least and the most over all rounds. */
  events: [number, number];
  newest: Spread;
  each: Spread;
  /** Tokens that a viewer saw before the answer was complete, of each that was written. */
  seen: number;
}

async function measure(name: string, viewers: number, watch: () => Promise<Watched>): Promise<Row> {
  say(`${name}, ${viewers} viewers`);
  await watch(); // fills caches
  const watched: Watched[] = [];
  for (let round = 0; round < rounds; round += 1) watched.push(await watch());
  const counts = watched.map(({ events }) => events);
  const each = watched.flatMap((one) => one.each);
  return {
    name,
    viewers,
    events: [Math.min(...counts), Math.max(...counts)],
    newest: spreadOf(watched.flatMap(({ newest }) => newest)),
    each: spreadOf(each),
    seen: viewers === 0 ? 0 : each.length / (rounds * viewers * pieces),
  };
}

/** Notes how old the tokens of a text are now. */
function note(watched: Watched, text: string): void {
  const nowMs = Date.now();
  const ages = writtenAt(text).map((atMs) => nowMs - atMs);
  watched.each.push(...ages);
  if (ages.length > 0) watched.newest.push(ages.at(-1)!);
}

async function watchOurs(client: CountersignClient, viewers: number): Promise<Watched> {
  const watched: Watched = { events: 0, newest: [], each: [] };
  const run = await client.start('writer', 'Write');
  const view = async (): Promise<void> => {
    for await (const event of client.events(run.workflowId)) {
      if (event.type === 'RawResponseEvent') note(watched, event.delta);
    }
  };
  await Promise.all([run.result(), ...Array.from({ length: viewers }, view)]);
  return { ...watched, events: await lengthOf(client, run.workflowId) };
}

async function watchTheirs(
  client: CountersignClient,
  taskQueue: string,
  viewers: number,
  batchMs: number,
): Promise<Watched> {
  const watched: Watched = { events: 0, newest: [], each: [] };
  const { client: temporal } = client.session;
  const workflowId = `streamed-${randomUUID()}`;
  const run = await temporal.workflow.start('streamedRun', { workflowId, taskQueue, args: [batchMs] });
  const view = async (): Promise<void> => {
    const topic = WorkflowStreamClient.create(temporal, workflowId).topic<string>('text');
    for await (const { data } of topic.subscribe()) {
      if (data === 'end') return;
      note(watched, data);
    }
  };
  // The workflow may be gone before a viewer has read the end of the stream.
  await Promise.all([run.result(), ...Array.from({ length: viewers }, () => view().catch(() => undefined))]);
  return { ...watched, events: await lengthOf(client, workflowId) };
}

async function lengthOf(client: CountersignClient, workflowId: string): Promise<number> {
  return (await client.session.client.workflow.getHandle(workflowId).describe()).historyLength;
}

async function streamsWorker(address: string) {
  const taskQueue = `streamed-${randomUUID()}`;
  const connection = await NativeConnection.connect({ address });
  const write = async (batchMs: number): Promise<string> => {
    await using client = WorkflowStreamClient.fromWithinActivity({ batchInterval: batchMs });
    const topic = client.topic<string>('text');
    const { stream } = await writingModel().doStream({ prompt: [] });
    let text = '';
    for await (const part of stream) {
      if (part.type !== 'text-delta') continue;
      text += part.delta;
      topic.publish(part.delta);
      Context.current().heartbeat();
    }
    return text;
  };
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./streamed-workflow.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    }),
    activities: { write },
    shutdownGraceTime: 500,
  });
  return { worker, taskQueue, connection };
}

function report(rows: readonly Row[]): void {
  if (values.json === true) console.log(JSON.stringify({ rounds, pieces, rows }, undefined, 2));
  else {
    const age = 'least · median · p99 · most';
    const table = new Table({
      head: ['', 'viewers', 'events of the run', `newest token, ms: ${age}`, `each token, ms: ${age}`, 'seen early'],
      style: { head: [], border: [] },
    });
    for (const { name, viewers, events, newest, each, seen } of rows) {
      const [least, most] = events;
      const ages = viewers === 0 ? ['', '', ''] : [showSpread(newest), showSpread(each), `${Math.round(seen * 100)} %`];
      table.push([name, viewers, least === most ? least : `${least} to ${most}`, ...ages]);
    }
    console.log(table.toString());
    console.log(
      `The model writes ${pieces} tokens in 3 seconds. The age of a token is the time from the model to the viewer.`,
    );
  }
  const [alone, ...watched] = rows.filter(({ name }) => name === 'countersign');
  if (watched.some(({ events }) => events[1] > alone!.events[1])) process.exitCode = 1;
}
