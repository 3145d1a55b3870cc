/** `delegate --all`, `--until`, `--list` and `--stop`, on a real server and worker. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { type World, openWorld } from '../../support/world.ts';
import { cli, jsonLines } from './support.ts';

let world: World;
let env: Record<string, string>;
beforeAll(async () => {
  const namespace = await makeOwnInbox();
  world = await openWorld({ namespace });
  env = { TEMPORAL_NAMESPACE: namespace };
});
afterAll(() => world?.close());

const delegate = (...words: string[]) => cli(['delegate', ...words, '--task-queue', world.taskQueue], { env });

async function ask(reviewers: string[], userId?: string): Promise<string> {
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers } }] };
  const calls = [{ tool: 'pay', args: { to: 'ann', amount: 1 } }];
  const run = await world.start([{ calls }, { text: 'done' }], {
    policy,
    ...(userId !== undefined && { caller: { userId } }),
  });
  const { requestId } = (await run.open())[0]!;
  await eventually('it is listed', async () => {
    const { approvals } = await world.client.approvals.list();
    return approvals.some((each) => each.requestId === requestId);
  });
  return requestId;
}

/** The list is read from the index, which lags. */
async function listed(expected: object[]): Promise<void> {
  const lines = await eventually('the list', async () => {
    const done = await delegate('--list');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const found = jsonLines(done);
    return found.length === expected.length && found;
  });
  expect(lines).toMatchObject(expected);
}

test('a line for each request, what stands, and its end', async () => {
  const [given, left] = [await ask(['bob']), await ask(['bob', 'ann'], 'eve')];
  const all = await delegate('--all', '--to', 'eve', '--reviewer', 'bob', '--until', '2099-12-24');
  expect(all).toMatchObject({ code: 1, stdout: '', stderr: "error: 'until' must be within a year\n" });
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const done = await delegate('--all', '--to', 'eve', '--reviewer', 'bob', '--until', until, '--reason', 'on leave');
  expect(done).toMatchObject({ code: 1, stderr: '' });
  const lines = jsonLines(done);
  expect(new Map(lines.slice(0, 2).map((line) => [line['requestId'], line['code']]))).toEqual(
    new Map([
      [given, undefined],
      [left, 'self_approval'],
    ]),
  );
  expect(lines[2]).toMatchObject({ by: 'bob', to: 'eve', untilAt: until, reason: 'on leave' });
  await listed([{ by: 'bob', to: 'eve' }]);
  expect(await delegate('--all', '--to', 'zoe', '--reviewer', 'nora')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'No open request waits for nora.\n',
  });
  expect(await delegate('--stop', '--reviewer', 'bob')).toMatchObject({ code: 0 });
  await listed([]);
  expect(await delegate('--stop', '--reviewer', 'bob')).toMatchObject({
    code: 3,
    stderr: "error: No delegation of new requests for 'bob': `countersign delegate --list` lists the present ones.\n",
  });
});

test.each<[string, string[], string]>([
  ['nothing', [], 'Give the id of a request, or one of --all, --list and --stop.'],
  ['two', ['4f0c9a1e', '--all', '--to', 'eve'], 'Give the id of a request, or one of --all, --list and --stop.'],
  ['nobody', ['--all', '--reviewer', 'bob'], 'Say who decides: add --to NAME.'],
  ['a date for one', ['4f0c9a1e', '--to', 'eve', '--until', '2030-12-24'], '--until is for --all.'],
  [
    'a seat of another',
    ['--all', '--to', 'eve', '--from', 'ann'],
    '--from and --run are for one request: give its id.',
  ],
])('%s: a usage error', async (_, words, message) => {
  expect(await delegate(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});
