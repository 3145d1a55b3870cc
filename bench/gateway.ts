/**
 * `npm run bench:gateway`: a run watched over HTTP by one viewer, by 500, and by 500 while 20 other viewers of the same
 * gateway never read. Counts the gateway's calls to the Temporal server, and measures how old an event is when a viewer
 * gets it. The gateway runs in a process of its own. `--json` prints only the numbers; `--viewers N`. Exits with 1 if 500
 * viewers cost more than 1.5 times the calls of one.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { z } from 'zod';
import { defineAgent } from '../src/agents/define-agent.ts';
import { defineTool } from '../src/agents/define-tool.ts';
import { createClient } from '../src/client/client.ts';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';
import { scriptedModel } from '../src/models/scripted.ts';
import { createWorker } from '../src/worker.ts';
import { chattyModel } from './gateway/chatty-model.ts';
import type { GatewayFigures } from './gateway/process.ts';
import { type Ages, block, view } from './gateway/viewer.ts';
import { showSpread, spreadOf } from './spread.ts';
import { until } from './until.ts';

const { values } = parseArgs({ options: { viewers: { type: 'string', default: '500' }, json: { type: 'boolean' } } });
const many = Number(values.viewers);
const blockedViewers = 20;
const mostCallsRatio = 1.5;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const server = await startDevServer({ uiPort: null, log: say });
const { address } = server;
const taskQueue = `gateway-${randomUUID()}`;
const input = z.object({});
const look = defineTool({ name: 'look', description: 'Looks.', input, risk: 'read_only', execute: () => 'seen' });
const dump = defineTool({
  name: 'dump',
  description: 'Gives much text.',
  input,
  risk: 'read_only',
  execute: () => 'much text '.repeat(90_000),
});
/** More than a connection and the two ends of it buffer. The run ends then: its transcript is too large. */
const dumps = { calls: Array.from({ length: 12 }, () => ({ tool: 'dump', args: {} })) };
const worker = await createWorker({
  address,
  taskQueue,
  agents: [
    defineAgent({ name: 'chatty', instructions: 'Write.', model: chattyModel(3), tools: [look] }),
    defineAgent({
      name: 'dumper',
      instructions: 'Dump.',
      model: scriptedModel({ default: [dumps] }),
      tools: [dump],
    }),
  ],
  shutdownGraceTime: 500,
  logLevel: 'ERROR',
});
const working = worker.run();
const client = await createClient({ address, taskQueue });
const gateway = fork(fileURLToPath(new URL('./gateway/process.ts', import.meta.url)), [address, taskQueue]);
const rows: Row[] = [];
try {
  const [url] = (await once(gateway, 'message')) as [string];
  await measure(url, { viewers: 1, blocked: 0 }); // fills caches
  rows.push(await measure(url, { viewers: 1, blocked: 0 }));
  rows.push(await measure(url, { viewers: many, blocked: 0 }));
  rows.push(await measure(url, { viewers: many, blocked: blockedViewers }));
} finally {
  gateway.disconnect();
  worker.shutdown();
  await working;
  await client.close();
  await server.stop();
}
report();

interface Row extends GatewayFigures {
  viewers: number;
  ages: Ages;
}

async function measure(url: string, { viewers, blocked }: { viewers: number; blocked: number }): Promise<Row> {
  say(`${viewers} viewers${blocked === 0 ? '' : `, and ${blocked} that never read`}`);
  const urlOf = (workflowId: string): URL => new URL(`/runs/${workflowId}/events`, url);
  const unblock: (() => void)[] = [];
  if (blocked > 0) {
    const fat = await client.start('dumper', 'Dump');
    await fat.result();
    // Each of them is behind from its first event, so the gateway reads the history for it.
    for (let each = 0; each < blocked; each += 1) unblock.push(await block(urlOf(fat.workflowId)));
    const areBlocked = async (): Promise<boolean> => (await figuresOf(gateway)).blocked === blocked;
    await until('all of them are blocked', areBlocked);
  }
  await figuresOf(gateway);
  const ages: Ages = { events: [], tokens: [] };
  const run = await client.start('chatty', 'Write');
  const watching = Array.from({ length: viewers }, () => view(urlOf(run.workflowId), ages));
  await Promise.all(watching.map(({ open }) => open));
  await Promise.all(watching.map(({ ended }) => ended));
  const figures = await figuresOf(gateway);
  for (const each of unblock) each();
  return { viewers, ...figures, ages };
}

async function figuresOf(child: ChildProcess): Promise<GatewayFigures> {
  const answer = once(child, 'message');
  child.send('figures');
  return ((await answer) as [GatewayFigures])[0];
}

function report(): void {
  const [one, all] = rows;
  const ratio = all!.calls / one!.calls;
  if (values.json === true) {
    const numbers = rows.map(({ ages, ...row }) => ({
      ...row,
      events: spreadOf(ages.events),
      tokens: spreadOf(ages.tokens),
    }));
    console.log(JSON.stringify({ rows: numbers, callsRatio: ratio }, undefined, 2));
  } else {
    const spread = 'least · median · p99 · most';
    const table = new Table({
      head: [
        'viewers',
        'that never read',
        'calls to Temporal',
        `event, ms: ${spread}`,
        `token, ms: ${spread}`,
        'memory',
      ],
      style: { head: [], border: [] },
    });
    for (const { viewers, blocked, calls, ages, peakBytes } of rows) {
      const [events, tokens] = [showSpread(spreadOf(ages.events)), showSpread(spreadOf(ages.tokens))];
      table.push([viewers, blocked, calls, events, tokens, `${Math.round(peakBytes / 1_000_000)} MB`]);
    }
    console.log(table.toString());
    console.log(`${many} viewers cost ${ratio.toFixed(2)} times the calls of one.`);
  }
  if (ratio > mostCallsRatio) process.exitCode = 1;
}
