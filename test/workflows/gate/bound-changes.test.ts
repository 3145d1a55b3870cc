/** A world that changes while calls wait: files, rows of SQLite, a service over HTTP and branches of git. */
import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
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

/** Things of one kind. Each has facts that count, and a note that does not. */
interface Things {
  /** The tool that a call has to name. */
  tool: string;
  create(id: string): Promise<void>;
  read(id: string): Promise<{ facts: Record<string, string>; note: string }>;
  changeFacts(id: string): Promise<void>;
  changeNote(id: string): Promise<void>;
  /** The effect of the tool. */
  use(id: string): Promise<void>;
}

const kinds = ['file', 'row', 'service', 'branch'] as const;
type Kind = (typeof kinds)[number];

interface Stored {
  value: number;
  note: string;
}

/** Where things are kept that are only a number and a note. */
interface Store {
  read(id: string): Promise<Stored>;
  write(id: string, stored: Stored): Promise<void>;
}

function storedThings(kind: Kind, store: Store): Things {
  let last = 0;
  return {
    tool: `clear_${kind}`,
    create: (id) => store.write(id, { value: ++last, note: 'new' }),
    read: async (id) => {
      const { value, note } = await store.read(id);
      return { facts: { value: String(value) }, note };
    },
    changeFacts: async (id) => store.write(id, { ...(await store.read(id)), value: ++last }),
    changeNote: async (id) => {
      const { value, note } = await store.read(id);
      await store.write(id, { value, note: `${note}!` });
    },
    use: (id) => store.write(id, { value: 0, note: 'cleared' }),
  };
}

function fileStore(folder: string): Store {
  const path = (id: string): string => join(folder, `${id}.json`);
  return {
    read: async (id) => JSON.parse(readFileSync(path(id), 'utf8')) as Stored,
    write: async (id, stored) => writeFileSync(path(id), JSON.stringify(stored)),
  };
}

function rowStore(folder: string): Store {
  const database = new DatabaseSync(join(folder, 'things.sqlite'));
  database.exec('CREATE TABLE things (id TEXT PRIMARY KEY, value INTEGER, note TEXT)');
  return {
    read: async (id) => database.prepare('SELECT value, note FROM things WHERE id = ?').get(id) as unknown as Stored,
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
    read: async (id) => (await (await fetch(`${origin}/${id}`)).json()) as Stored,
    write: async (id, stored) => {
      await (await fetch(`${origin}/${id}`, { method: 'PUT', body: JSON.stringify(stored) })).text();
    },
  };
}

/** Git without the settings of the machine, and without the repository of a hook that runs the tests. */
async function git(folder: string, ...words: string[]): Promise<string> {
  const person = { NAME: 'Ann', EMAIL: 'ann@acme.com' };
  const people = Object.entries(person).flatMap(([name, value]) =>
    ['AUTHOR', 'COMMITTER'].map((role) => [`GIT_${role}_${name}`, value]),
  );
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const options = { cwd: folder, env: { ...env, ...Object.fromEntries(people) } };
  return (await promisify(execFile)('git', words, options)).stdout.trim();
}

/**
 * Branches that wait to be pushed. What counts is the commit that the remote has and the one that it will have; work on
 * another branch does not.
 */
async function branches(folder: string): Promise<Things> {
  const [mine, remote] = [join(folder, 'mine'), join(folder, 'remote.git')];
  for (const path of [mine, remote]) {
    await git(folder, 'init', '--quiet', '--bare', path);
    await git(path, 'config', 'gc.auto', '0');
  }
  await git(mine, 'remote', 'add', 'origin', remote);
  const tree = await git(mine, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  await git(remote, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  const headOf = (repository: string, branch: string): Promise<string> =>
    git(repository, 'rev-parse', '--verify', `refs/heads/${branch}`);
  const commit = async (repository: string, branch: string, parents: readonly string[]): Promise<void> => {
    const words = parents.flatMap((parent) => ['-p', parent]);
    const made = await git(repository, 'commit-tree', tree, ...words, '-m', `Work on ${branch}`);
    await git(repository, 'update-ref', `refs/heads/${branch}`, made, ...parents);
  };
  const commitMore = async (repository: string, branch: string): Promise<void> =>
    commit(repository, branch, [await headOf(repository, branch)]);
  let changes = 0;
  return {
    tool: 'push_branch',
    create: async (id) => {
      await commit(mine, id, []);
      await git(mine, 'push', '--quiet', 'origin', id);
      await commitMore(mine, id);
      await commit(mine, `draft-${id}`, []);
    },
    read: async (id) => {
      const [from, to, note] = await Promise.all([headOf(remote, id), headOf(mine, id), headOf(mine, `draft-${id}`)]);
      return { facts: { from, to }, note };
    },
    // In turn, the branch itself gets a commit, and another person pushes one.
    changeFacts: (id) => commitMore(changes++ % 2 === 0 ? mine : remote, id),
    changeNote: (id) => commitMore(mine, `draft-${id}`),
    // By force: only the gate keeps it from replacing what another person has pushed.
    use: async (id) => {
      await git(mine, 'push', '--quiet', '--force', 'origin', id);
    },
  };
}

function agentIn(folder: string, things: Record<Kind, Things>): Agent {
  const tools = kinds.map((kind) =>
    defineTool({
      name: things[kind].tool,
      description: `Uses a ${kind}.`,
      input: z.object({ id: z.string() }),
      bind: 'preview',
      preview: async ({ id }) => {
        const { facts, note } = await things[kind].read(id);
        const before = `${inWords(facts)}, ${note}`;
        return { changes: [{ kind: 'text', name: id, before, after: 'used' }], facts };
      },
      execute: async ({ id }) => {
        const { facts } = await things[kind].read(id);
        appendFileSync(join(folder, 'ran.log'), `${id} ${inWords(facts)}\n`);
        await things[kind].use(id);
        return 'used';
      },
    }),
  );
  return defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools });
}

const inWords = (facts: Readonly<Record<string, string>>): string => Object.values(facts).join('..');

const shownFacts = ({ preview }: ApprovalDetails): string =>
  preview?.state === 'ready' ? inWords(preview.bound!.facts) : preview!.state;

test('nothing runs against a preview that has changed, and what does not count asks nobody', async () => {
  const server = service();
  const { url, close } = await listen(server);
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  const things: Record<Kind, Things> = {
    file: storedThings('file', fileStore(folder)),
    row: storedThings('row', rowStore(folder)),
    service: storedThings('service', serviceStore(url)),
    branch: await branches(folder),
  };
  const world = await openWorld({ agentsIn: (ofWorld) => [agentIn(ofWorld, things)] });
  const random = seededRandom(20_260_101);
  const all = Array.from({ length: calls }, (_, index) => ({
    id: `thing-${index}`,
    kind: kinds[index % kinds.length]!,
  }));
  const thingsOf = new Map(all.map(({ id, kind }) => [id, things[kind]]));
  /** The facts that the last approval of each call saw; the requests and changes of facts of each call. */
  const approved = new Map<string, string>();
  const asked = new Map<string, number>();
  const changed = new Map<string, number>();
  let approvals = 0;

  async function change(id: string): Promise<void> {
    const what = random.whole(1, 3);
    if (what === 1) await thingsOf.get(id)!.changeNote(id);
    if (what !== 2) return;
    await thingsOf.get(id)!.changeFacts(id);
    changed.set(id, (changed.get(id) ?? 0) + 1);
  }

  async function answer(run: RunInTest, request: ApprovalDetails): Promise<void> {
    const id = request.arguments['id'] as string;
    asked.set(id, (asked.get(id) ?? 0) + 1);
    // Three changes end a call.
    if ((changed.get(id) ?? 0) < 3) await change(id);
    approved.set(id, shownFacts(request));
    approvals++;
    await run.handle.signal('decide', { requestId: request.requestId, approved: true });
  }

  async function play(ids: readonly string[]): Promise<RunInTest> {
    for (const id of ids) await thingsOf.get(id)!.create(id);
    const turn = ids.map((id) => ({ tool: thingsOf.get(id)!.tool, args: { id } }));
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
      const ids = all.slice(index, index + 2 * callsOfRun).map(({ id }) => id);
      runs.push(...(await Promise.all([play(ids.slice(0, callsOfRun)), play(ids.slice(callsOfRun))])));
    }
    const ran = new Map(world.ran().map((line) => line.split(' ') as [string, string]));
    expect(world.ran()).toHaveLength(ran.size);
    const wrong = [...ran].filter(([id, facts]) => facts !== approved.get(id));
    const again = all.filter(({ id }) => asked.get(id)! !== 1 + (changed.get(id) ?? 0));
    process.stdout.write(
      `${approvals} approvals of ${calls} calls: ${ran.size} ran, ${[...changed.values()].reduce((a, b) => a + b, 0)} ` +
        `changes asked again, ${wrong.length} ran against a changed preview, ${again.length} asked without a change\n`,
    );
    expect(wrong).toEqual([]);
    for (const { id } of all.filter(({ kind }) => kind === 'branch')) {
      const [, commit] = approved.get(id)!.split('..');
      expect((await things.branch.read(id)).facts).toEqual({ from: commit, to: commit });
    }
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
    rmSync(folder, { recursive: true, force: true });
  }
});
