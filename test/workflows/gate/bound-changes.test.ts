/** A world that changes while calls wait: files, rows of SQLite and a service over HTTP. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { Agent } from '../../../src/agents/definitions.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { openWorld, testBundle, type RunInTest } from '../../support/world.ts';

/** Calls to approve. */
const calls = Number(process.env.COUNTERSIGN_TEST_APPROVALS ?? 200);
const callsOfRun = 10;

/** One value that counts, and a note that does not. */
interface Thing {
  value: number;
  note: string;
}

interface Store {
  read(id: string): Promise<Thing>;
  write(id: string, thing: Thing): Promise<void>;
}

const kinds = ['file', 'row', 'service'] as const;
type Kind = (typeof kinds)[number];

function fileStore(folder: string): Store {
  const path = (id: string): string => join(folder, `${id}.json`);
  return {
    read: async (id) => JSON.parse(readFileSync(path(id), 'utf8')) as Thing,
    write: async (id, thing) => writeFileSync(path(id), JSON.stringify(thing)),
  };
}

function rowStore(folder: string): Store {
  const database = new DatabaseSync(join(folder, 'things.sqlite'));
  database.exec('CREATE TABLE things (id TEXT PRIMARY KEY, value INTEGER, note TEXT)');
  return {
    read: async (id) => database.prepare('SELECT value, note FROM things WHERE id = ?').get(id) as unknown as Thing,
    write: async (id, { value, note }) => {
      database.prepare('INSERT OR REPLACE INTO things VALUES (?, ?, ?)').run(id, value, note);
    },
  };
}

function service(): Server {
  const things = new Map<string, string>();
  return createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      if (request.method === 'PUT') things.set(request.url!, body);
      response.end(things.get(request.url!) ?? '');
    });
  });
}

function serviceStore(origin: string): Store {
  return {
    read: async (id) => (await (await fetch(`${origin}/${id}`)).json()) as Thing,
    write: async (id, thing) => {
      await (await fetch(`${origin}/${id}`, { method: 'PUT', body: JSON.stringify(thing) })).text();
    },
  };
}

function agentIn(folder: string, stores: Record<Kind, Store>): Agent {
  const tools = kinds.map((kind) =>
    defineTool({
      name: `clear_${kind}`,
      description: `Clears a ${kind}.`,
      input: z.object({ id: z.string() }),
      bind: 'preview',
      preview: async ({ id }) => {
        const { value, note } = await stores[kind].read(id);
        const before = `${value}, ${note}`;
        return { changes: [{ kind: 'text', name: id, before, after: '0' }], facts: { value } };
      },
      execute: async ({ id }) => {
        const { value } = await stores[kind].read(id);
        appendFileSync(join(folder, 'ran.log'), `${id} ${value}\n`);
        await stores[kind].write(id, { value: 0, note: 'cleared' });
        return 'cleared';
      },
    }),
  );
  return defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools });
}

const shownValue = ({ preview }: ApprovalDetails): string =>
  preview?.state === 'ready' ? preview.bound!.facts['value']! : preview!.state;

test('nothing runs against a preview that has changed, and what does not count asks nobody', async () => {
  const server = service();
  const { url, close } = await listen(server);
  let stores!: Record<Kind, Store>;
  const world = await openWorld({
    agentsIn: (folder) => {
      stores ??= { file: fileStore(folder), row: rowStore(folder), service: serviceStore(url) };
      return [agentIn(folder, stores)];
    },
  });
  const random = seededRandom(20_260_101);
  const things = Array.from({ length: calls }, (_, index) => ({ id: `thing-${index}`, kind: kinds[index % 3]! }));
  const kindOf = new Map(things.map(({ id, kind }) => [id, kind]));
  /** What the last approval of each call saw; whether a value or only a note changed before it. */
  const approved = new Map<string, string>();
  const asked = new Map<string, number>();
  const changed = new Map<string, number>();
  let approvals = 0;

  async function change(id: string): Promise<void> {
    const store = stores[kindOf.get(id)!];
    const { value, note } = await store.read(id);
    const what = random.whole(1, 3);
    if (what === 1) await store.write(id, { value, note: `${note}!` });
    if (what !== 2) return;
    await store.write(id, { value: value + random.whole(1, 100), note });
    changed.set(id, (changed.get(id) ?? 0) + 1);
  }

  async function answer(run: RunInTest, request: ApprovalDetails): Promise<void> {
    const id = request.arguments['id'] as string;
    asked.set(id, (asked.get(id) ?? 0) + 1);
    // Three changes end a call.
    if ((changed.get(id) ?? 0) < 3) await change(id);
    approved.set(id, shownValue(request));
    approvals++;
    await run.handle.signal('decide', { requestId: request.requestId, approved: true });
  }

  async function play(ids: readonly string[]): Promise<RunInTest> {
    for (const id of ids) await stores[kindOf.get(id)!].write(id, { value: random.whole(1, 1_000), note: 'new' });
    const turn = ids.map((id) => ({ tool: `clear_${kindOf.get(id)!}`, args: { id } }));
    const run = await world.start([{ calls: turn }, { text: 'done' }]);
    const seen = new Set<string>();
    await eventually('the run ends', async () => {
      const { status } = await run.handle.describe();
      if (status.name !== 'RUNNING') return true;
      const open = await run.handle.query<ApprovalDetails[]>('approvals');
      const news = open.filter(({ requestId }) => !seen.has(requestId)).map(({ requestId }) => requestId);
      if (news.length === 0) return false;
      const details = await run.handle.query<ApprovalDetails[], [object]>('approvals', { requestIds: news });
      for (const request of details.filter(({ preview }) => preview?.state === 'ready')) {
        seen.add(request.requestId);
        await answer(run, request);
      }
      return false;
    });
    return run;
  }

  try {
    const runs: RunInTest[] = [];
    for (let index = 0; index < calls; index += 2 * callsOfRun) {
      const ids = things.slice(index, index + 2 * callsOfRun).map(({ id }) => id);
      runs.push(...(await Promise.all([play(ids.slice(0, callsOfRun)), play(ids.slice(callsOfRun))])));
    }
    const ran = new Map(world.ran().map((line) => line.split(' ') as [string, string]));
    expect(world.ran()).toHaveLength(ran.size);
    const wrong = [...ran].filter(([id, value]) => value !== approved.get(id));
    const again = things.filter(({ id }) => asked.get(id)! !== 1 + (changed.get(id) ?? 0));
    process.stdout.write(
      `${approvals} approvals of ${calls} calls: ${ran.size} ran, ${[...changed.values()].reduce((a, b) => a + b, 0)} ` +
        `changes asked again, ${wrong.length} ran against a changed preview, ${again.length} asked without a change\n`,
    );
    expect(wrong).toEqual([]);
    expect(again.length).toBeLessThanOrEqual(approvals / 100);
    expect(ran.size).toBe(calls);
    expect(approvals).toBeGreaterThanOrEqual(calls);
    const histories = await Promise.all(
      runs.map(async ({ handle, workflowId }) => ({ workflowId, history: await handle.fetchHistory() })),
    );
    const failed: unknown[] = [];
    for await (const { error } of Worker.runReplayHistories(
      { workflowBundle: { codePath: testBundle() } },
      histories,
    )) {
      if (error !== undefined) failed.push(error);
    }
    expect(failed).toEqual([]);
  } finally {
    await world.close();
    await close();
  }
});
