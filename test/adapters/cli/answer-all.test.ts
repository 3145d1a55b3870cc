/** `approve --all` and `deny --all`: the frozen set, its confirmation, and its results, on a real server and worker. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { RunInput } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { testAgent } from '../../support/test-agent.ts';
import { type RunInTest, type World, openWorld } from '../../support/world.ts';
import { cli, jsonLines, startOnTerminal } from './support.ts';

/** Of these tests alone: an inbox that no other test writes to. */
const namespace = `batch-${randomUUID()}`;
const agent = 'batch';
const env = { TEMPORAL_NAMESPACE: namespace };
const answer = (words: string[]) => cli(words, { env });
const onTerminal = (words: string[]) => startOnTerminal(words, env);
let world: World;
const started: RunInTest[] = [];
beforeAll(async () => {
  await makeNamespace(namespace);
  world = await openWorld({ namespace, worker: false, agentsIn: (folder) => [{ ...testAgent(folder), name: agent }] });
  await world.client.setUp();
  await world.startWorker();
});
afterEach(async () => {
  for (const run of started.splice(0)) await run.handle.terminate().catch(() => undefined);
  await eventually('an empty inbox', async () => (await listed()).length === 0);
});
afterAll(() => world.close());

const listed = async () => (await world.client.approvals.list({ agent })).approvals;

async function ask(args: object[], input: Partial<RunInput> = {}): Promise<{ run: RunInTest; ids: string[] }> {
  const calls = args.map((each) => ({ tool: 'echo', args: each as Record<string, string> }));
  const run = await world.start([{ calls }, { text: 'end' }], { agent, ...input });
  started.push(run);
  const ids = (await run.open(args.length)).map(({ requestId }) => requestId);
  await eventually('all in the list', async () => {
    const seen = (await listed()).map(({ requestId }) => requestId);
    return ids.every((id) => seen.includes(id));
  });
  return { run, ids };
}

test('without a terminal: --yes answers exactly what was listed, and prints a result for each', async () => {
  const one = await ask([{ to: 'ann' }, { to: 'bob' }]);
  const two = await ask([{ to: 'cy\u202e' }]);
  const refused = await answer(['approve', '--all', '--agent', agent]);
  expect(refused).toEqual({
    code: 2,
    stdout: '',
    stderr: 'error: No terminal can ask whether to go on: add --yes to answer all that wait without a question.\n',
  });
  expect(await listed()).toHaveLength(3);
  const result = await answer(['approve', '--all', '--agent', agent, '--yes', '--reviewer', 'rita']);
  expect(result.code).toBe(0);
  expect(new Set(jsonLines(result).map(({ requestId, outcome }) => [requestId, outcome].join(' ')))).toEqual(
    new Set([...one.ids, ...two.ids].map((id) => `${id} approved`)),
  );
  for (const shown of ['"to":"ann"', '"to":"bob"', String.raw`"to":"cy\u202e"`, ...one.ids])
    expect(result.stderr).toContain(shown);
  await Promise.all([one.run.result(), two.run.result()]);
  const { requests } = await world.client.journal(one.run.workflowId);
  expect(requests.map(({ viewed }) => viewed)).toEqual([
    { channel: 'cli', batch: 3 },
    { channel: 'cli', batch: 3 },
  ]);
});

test('an approval leaves out what is not all shown; --unseen and a denial do not', async () => {
  const hidden = { policy: { version: 1, rules: [], approval: { timeout: '1h', include_arguments: false } } };
  const open = await ask([{ to: 'ann' }]);
  const secret = await ask([{ to: 'bob' }], hidden);
  const long = await ask([{ text: 'x'.repeat(5_000) }]);
  const all = ['--all', '--agent', agent, '--yes'];
  const approved = await answer(['approve', ...all]);
  expect(approved.code).toBe(1);
  const byId = new Map(jsonLines(approved).map((line) => [line['requestId'], line]));
  expect(byId.get(open.ids[0]!)).toMatchObject({ accepted: true, outcome: 'approved' });
  expect(byId.get(secret.ids[0]!)).toMatchObject({
    accepted: false,
    message: 'left out: the policy hides its arguments',
  });
  expect(byId.get(long.ids[0]!)).toMatchObject({
    accepted: false,
    message: 'left out: its arguments have 5011 characters, too many to show here',
  });
  const denied = await answer(['deny', ...all, '--run', secret.run.workflowId, '--reason', 'closed']);
  expect([denied.code, jsonLines(denied)]).toEqual([0, [expect.objectContaining({ outcome: 'denied' })]]);
  const unseen = await answer(['approve', ...all, '--unseen', '--run', long.run.workflowId]);
  expect([unseen.code, jsonLines(unseen)]).toEqual([0, [expect.objectContaining({ outcome: 'approved' })]]);
});

describe('on a terminal', () => {
  test('what comes while the question stands is not touched', async () => {
    const first = await ask([{ to: 'ann' }]);
    const terminal = onTerminal(['approve', '--all', '--agent', agent]);
    await terminal.shows('Approve this request? Type yes to go on:');
    const later = await ask([{ to: 'eve' }]);
    terminal.type('yes\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.printed()).toContain(`✓ echo: request ${first.ids[0]}: approved`);
    expect(terminal.printed()).not.toContain(later.ids[0]);
    await first.run.result();
    expect((await later.run.open()).map(({ requestId }) => requestId)).toEqual(later.ids);
  });

  test.each([
    ['Enter alone', '\r'],
    ['y', 'y\r'],
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('%s decides nothing', async (_name, keys) => {
    const { ids } = await ask([{ to: 'ann' }, { to: 'bob' }]);
    const terminal = onTerminal(['deny', '--all', '--agent', agent]);
    await terminal.shows('Deny these 2 requests? Type yes to go on:');
    terminal.type(keys);
    expect(await terminal.ended).toBe(1);
    expect(terminal.printed()).toContain('Nothing was decided.');
    expect((await listed()).map(({ requestId }) => requestId).toSorted()).toEqual(ids.toSorted());
  });

  test('settled elsewhere meanwhile: the result says by whom', async () => {
    const { ids, run } = await ask([{ to: 'ann' }]);
    const terminal = onTerminal(['approve', '--all', '--agent', agent]);
    await terminal.shows('Type yes to go on:');
    await world.client.decide({ requestId: ids[0]!, approved: false, reviewerId: 'olga' });
    terminal.type('yes\r');
    expect(await terminal.ended).toBe(1);
    expect(terminal.printed()).toContain(`✗ echo: request ${ids[0]} was already settled by olga: denied`);
    await run.result();
  });
});

test('nothing waits: exit 0', async () => {
  const result = await answer(['deny', '--all', '--agent', agent, '--yes']);
  expect(result).toEqual({ code: 0, stdout: '', stderr: 'Nothing waits for approval.\n' });
});

test.each([
  [['approve'], 'Say which request: its id, or --all'],
  [['deny', '4f0c9a1e', '--all'], 'Say which request: its id, or --all'],
  [['approve', '--all', '--always'], '--always and --digest are about one request'],
  [['approve', '4f0c9a1e', '--yes'], '--tool, --agent, --limit and --yes choose among all requests'],
  [['deny', '4f0c9a1e', '--tool', 'pay'], '--tool, --agent, --limit and --yes choose among all requests'],
])('%j is a mistake', async (words, sentence) => {
  const { code, stderr } = await cli(words);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${sentence}`)]);
});
