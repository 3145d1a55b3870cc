/**
 * `npm run bench:waiting`: the memory in its worker of a waiting run with a 2 kB transcript, compared to a bare one
 * (B5). Worker processes of both kinds alternate; each starts with a few warm-up runs. `--json`, `--runs N`, `--rounds
 * N`. Exits with 1 when a budget is exceeded.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { createClient } from '../src/client/client.ts';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';
import { bundleInto } from './bundle-into.ts';
import { replayRuns } from './replay-runs.ts';
import { showSpread, spreadOf } from './spread.ts';
import { until } from './until.ts';
import { benchAgent, waitingInput } from './waiting-agent.ts';
import { spawnWaiting } from './waiting-process.ts';

const budgets = { memory: 1.5, processor: 1.15 };
const warmUps = 50;
const kinds = ['bare', 'ours'] as const;
type Kind = (typeof kinds)[number];

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean' },
  },
});
const runs = Number(values.runs);
const rounds = Number(values.rounds);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const bundles = { bare: await bundleInto(folder, 'bare'), ours: await bundleInto(folder, 'ours') };
const server = await startDevServer({ uiPort: null, log: say });
const weights: Record<Kind, { kilobytes: number[]; milliseconds: number[] }> = {
  bare: { kilobytes: [], milliseconds: [] },
  ours: { kilobytes: [], milliseconds: [] },
};
try {
  const countersign = await createClient({ address: server.address });
  const { client } = countersign.session;
  for (let round = 1; round <= rounds; round++) {
    for (const kind of kinds) {
      say(`round ${round} of ${rounds}: ${runs} waiting runs, ${kind}`);
      const { kilobytes, milliseconds } = await weighRuns(client, kind);
      weights[kind].kilobytes.push(kilobytes);
      weights[kind].milliseconds.push(milliseconds);
    }
  }
  await countersign.close();
  await replayRuns(server.address, [bundles.ours, bundles.bare]);
  report();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function weighRuns(client: Client, kind: Kind): Promise<{ kilobytes: number; milliseconds: number }> {
  const taskQueue = `waiting-${randomUUID()}`;
  const worker = await spawnWaiting({
    address: server.address,
    taskQueue,
    kind,
    codePath: bundles[kind],
    inOneThread: true,
  });
  try {
    const warm = await startAll(client, kind, taskQueue, warmUps);
    const before = await worker.weigh();
    const waiting = await startAll(client, kind, taskQueue, runs);
    const after = await worker.weigh();
    await inBatches([...warm, ...waiting], (run) => run.terminate());
    return {
      kilobytes: (after.heapBytes - before.heapBytes) / 1_024 / runs,
      milliseconds: (after.processorMs - before.processorMs) / runs,
    };
  } finally {
    await worker.kill();
  }
}

/** Starts runs and waits until each waits for its decision. */
async function startAll(client: Client, kind: Kind, taskQueue: string, count: number): Promise<WorkflowHandle[]> {
  const agent = benchAgent();
  const bare = {
    agent: agent.name,
    instructions: agent.instructions,
    tools: agent.tools.map(({ name, description, schema }) => ({ name, description, schema })),
    input: waitingInput,
    asked: ['pay'],
    timeoutMs: 3_600_000,
  };
  const policy = { version: 1, approval: { timeout: '1h' } };
  const handles = await inBatches(Array.from({ length: count }), () =>
    client.workflow.start(kind === 'bare' ? 'bareGatedRun' : 'agentRun', {
      workflowId: `${kind}-${randomUUID()}`,
      taskQueue,
      args: [kind === 'bare' ? bare : { agent: agent.name, input: waitingInput, policy }],
    }),
  );
  await inBatches(handles, (run) =>
    until('the timer of a waiting run', async () => {
      const { events } = await run.fetchHistory();
      return (events ?? []).some((event) => event.timerStartedEventAttributes != null);
    }),
  );
  return handles;
}

async function inBatches<T, R>(all: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < all.length; from += 20) {
    done.push(...(await Promise.all(all.slice(from, from + 20).map(act))));
  }
  return done;
}

function report(): void {
  const [bare, ours] = kinds.map((kind) => ({
    kilobytes: spreadOf(weights[kind].kilobytes),
    milliseconds: spreadOf(weights[kind].milliseconds),
  }));
  const memory = ours!.kilobytes.median / bare!.kilobytes.median;
  const processor = ours!.milliseconds.median / bare!.milliseconds.median;
  if (values.json === true) {
    console.log(JSON.stringify({ runs, rounds, bare, ours, memory, processor, budgets }, undefined, 2));
  } else {
    const head = ['a waiting run', 'kB: least · median · p99 · most', 'ms of processor'];
    const table = new Table({ head, style: { head: [], border: [] } });
    table.push(['bare', showSpread(bare!.kilobytes), showSpread(bare!.milliseconds, 1)]);
    table.push(['countersign', showSpread(ours!.kilobytes), showSpread(ours!.milliseconds, 1)]);
    console.log(table.toString());
    console.log(`B5: ${memory.toFixed(2)} times the memory of a bare one (at most ${budgets.memory}),`);
    console.log(`    ${processor.toFixed(2)} times its processor time (at most ${budgets.processor}).`);
  }
  if (memory > budgets.memory || processor > budgets.processor) process.exitCode = 1;
}
