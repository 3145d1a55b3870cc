/** Runs every command that acts on a waiting request or a running run once, on a real server and worker. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activityNames, type Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunInTest, type World, openWorld } from '../../support/world.ts';
import { type CliResult, cli, jsonLines, startCli } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const person = userInfo().username;

interface Waiting {
  run: RunInTest;
  workflowId: string;
  ids: string[];
  requestId: string;
}

async function waiting(ask: JsonObject = {}, count = 1): Promise<Waiting> {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}@acme.com`, amount: 5 },
  }));
  const policy = { version: 1 as const, rules: [{ pattern: 'pay', action: 'ask', ask }] };
  const run = await world.start([{ calls }, { text: '{{lastResult}}' }], { policy });
  const ids = (await run.open(count)).map(({ requestId }) => requestId);
  return { run, workflowId: run.workflowId, ids, requestId: ids[0]! };
}

/** The first characters of a request id, and its run: another test's run may have requests that no list shows. */
const short = ({ requestId, workflowId }: Pick<Waiting, 'requestId' | 'workflowId'>): string[] => [
  requestId.slice(0, 12),
  '--run',
  workflowId,
];

/** The receipt of a successful command. */
function receiptOf(result: CliResult): Receipt {
  expect(result).toMatchObject({ code: 0 });
  return jsonLines(result)[0] as unknown as Receipt;
}

describe('approve and deny --always, grants list and revoke', () => {
  test('the grant answers the others, is listed, and is revoked', async () => {
    const { run, workflowId, ids, requestId } = await waiting({}, 2);
    const always = ['--always', '--match', 'to=*@acme.com', '--expires', '1h', '--uses', '5'];
    expect(receiptOf(await cli(['approve', requestId, '--run', workflowId, ...always]))).toMatchObject({
      outcome: 'approved',
      grantId: 'grant-1',
      settled: [{ requestId: ids[1], outcome: 'superseded' }],
    });
    await run.result();
    expect(jsonLines(await cli(['grants', 'list', workflowId]))).toMatchObject([
      {
        grantId: 'grant-1',
        tool: 'pay',
        approved: true,
        scope: { kind: 'arguments', match: { to: '*@acme.com' } },
        usesLeft: 4,
        expiresAtMs: expect.any(Number),
        by: [{ reviewerId: person, identity: 'claimed' }],
      },
    ]);
    expect(await cli(['grants', 'revoke', workflowId, 'grant-1'])).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: Run '${workflowId}' is closed and takes no more messages.\n`,
    });
  });

  test('deny --always tool leaves a standing denial; revoke by id, then all, then an unknown grant', async () => {
    const { workflowId, ids } = await waiting({ always: 'call' }, 3);
    expect(receiptOf(await cli(['deny', ids[0]!, '--always', 'tool', '--reason', 'no']))).toMatchObject({
      outcome: 'denied',
      grantId: 'grant-1',
      message: expect.stringContaining('narrowed to what the rule admits'),
    });
    expect(receiptOf(await cli(['approve', ids[1]!, '--always', 'call']))).toMatchObject({ grantId: 'grant-2' });
    expect(await cli(['grants', 'revoke', workflowId, 'grant-7'])).toEqual({
      code: 3,
      stdout: '',
      stderr: "error: this run has no grant 'grant-7'\n",
    });
    const revoked = receiptOf(await cli(['grants', 'revoke', workflowId, 'grant-1', '--reviewer', 'ann']));
    expect(revoked).toMatchObject({ accepted: true, message: 'revoked grant-1' });
    expect(receiptOf(await cli(['grants', 'revoke', workflowId, '--all'])).message).toBe('revoked grant-2');
    expect(jsonLines(await cli(['grants', workflowId]))).toEqual([]);
  });
});

describe('respond', () => {
  test.each<[string, string[], string]>([
    ['text', ['it is done'], 'it is done'],
    ['JSON', ['--json-value', '{"paid":true}'], '{"paid":true}'],
  ])("%s instead of the tool's result", async (_name, words, output) => {
    const { run, requestId } = await waiting();
    expect(receiptOf(await cli(['respond', requestId, ...words]))).toMatchObject({ outcome: 'responded' });
    expect(await run.result()).toMatchObject({ output, outcomes: [{ outcome: 'responded', ran: 'no' }] });
  });
});

describe('edit', () => {
  test('shows what changes, and the edited call runs', async () => {
    const { run, workflowId, requestId } = await waiting();
    const file = join(folder, 'args.json');
    writeFileSync(file, '{"to":"eve@acme.com","amount":5}');
    const edited = await cli(['edit', ...short({ requestId, workflowId }), '--args', `@${file}`]);
    expect(edited.stderr).toBe('- to: "p0@acme.com"\n+ to: "eve@acme.com"\n  amount: 5\n');
    expect(receiptOf(edited)).toMatchObject({ outcome: 'approved' });
    expect((await run.result()).output).toContain('paid 5 to eve@acme.com');
  });

  test.each<[string, string, number, RegExp]>([
    ['arguments that the tool does not take', '{"to":1}', 1, /^error: .*to.*\n$/],
    ['a key written twice', '{"to":"a","to":"b"}', 2, /^error: --args.*to.*\.\n$/],
    ['what is no JSON', '{to}', 2, /^error: --args.*\.\n$/],
  ])('%s: refused, and the request stays open', async (_name, args, code, sentence) => {
    const { run, requestId } = await waiting();
    const result = await cli(['edit', requestId, '--args', args]);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr.split('\n').at(-2)).toMatch(new RegExp(sentence.source.replace('\\n$', '$')));
    expect(await run.open()).toHaveLength(1);
  });
});

describe('extend', () => {
  test('--for adds to the deadline, --until sets it; never back, and never past the ceiling', async () => {
    const { run, workflowId, requestId } = await waiting();
    const before = Date.parse((await run.open())[0]!.deadline!);
    receiptOf(await cli(['extend', ...short({ requestId, workflowId }), '--for', '30m']));
    const after = new Date(before + 30 * 60_000).toISOString();
    expect((await run.open())[0]!.deadline).toBe(after);
    const until = new Date(before + 60 * 60_000).toISOString();
    expect(receiptOf(await cli(['extend', requestId, '--until', until])).message).toBe(
      `request ${requestId} waits until ${until}`,
    );
    expect(await cli(['extend', requestId, '--until', after])).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: 'until' must be after the present deadline, ${until}\n`,
    });
    expect(await cli(['extend', requestId, '--for', '30d'])).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/^error: the operator's policy lets request .* wait until .* at most\n$/),
    });
  });

  test('an invalid time: exit 1, before anything is sent', async () => {
    expect(await cli(['extend', '0'.repeat(32), '--until', 'tomorrow', '--run', 'x'])).toEqual({
      code: 1,
      stdout: '',
      stderr: "error: 'until' must be an instant with its offset, such as 2030-01-31T12:00:00Z\n",
    });
  });
});

describe('delegate, and who may decide', () => {
  test('an operator moves a request, with a reason', async () => {
    const { run, workflowId, requestId } = await waiting({ reviewers: ['bob'] });
    const move = [
      'delegate',
      ...short({ requestId, workflowId }),
      '--from',
      'bob',
      '--to',
      'carl',
      '--reviewer',
      'olga',
    ];
    expect(await cli(move)).toMatchObject({
      code: 1,
      stderr: "error: who moves a request must say why: give a 'reason'\n",
    });
    expect(receiptOf(await cli([...move, '--reason', 'Bob is ill'])).message).toBe(
      `request ${requestId}: 'carl' decides in the place of 'bob'`,
    );
    await cli(['approve', ...short({ requestId, workflowId }), '--reviewer', 'carl']);
    await run.result();
  });

  test('a seat is delegated; votes are shown; others are refused', async () => {
    const { run, workflowId, requestId } = await waiting({ reviewers: ['ann', 'bob'], quorum: 2 });
    expect(await cli(['approve', requestId, '--reviewer', 'mallory'])).toMatchObject({
      code: 5,
      stderr: "error: 'mallory' is not among the reviewers of this request\n",
    });
    expect(
      receiptOf(await cli(['delegate', ...short({ requestId, workflowId }), '--to', 'carl', '--reviewer', 'bob']))
        .message,
    ).toBe(`request ${requestId}: 'carl' decides in the place of 'bob'`);
    expect(receiptOf(await cli(['approve', ...short({ requestId, workflowId }), '--reviewer', 'ann']))).toMatchObject({
      votes: { have: 1, need: 2 },
    });
    expect(jsonLines(await cli(['approvals', 'show', ...short({ requestId, workflowId })]))).toMatchObject([
      {
        reviewers: ['ann', 'bob'],
        approvals: { have: 1, need: 2 },
        votes: [{ reviewerId: 'ann', identity: 'claimed', approved: true }],
        delegations: [{ from: 'bob', to: 'carl' }],
      },
    ]);
    expect(receiptOf(await cli(['approve', requestId, '--reviewer', 'carl']))).toMatchObject({ outcome: 'approved' });
    await run.result();
  });
});

describe('policy apply', () => {
  const file = join(folder, 'strict.yaml');
  writeFileSync(file, 'version: 1\nrules:\n  - { pattern: pay, action: deny, reason: "No money today" }\n');

  test('a file: open requests are evaluated again and named', async () => {
    const { run, workflowId, requestId } = await waiting();
    expect(receiptOf(await cli(['policy', 'apply', workflowId, file]))).toMatchObject({
      accepted: true,
      settled: [{ requestId, outcome: 'superseded' }],
    });
    expect(await run.result()).toMatchObject({ output: 'Denied: No money today' });
    expect(await cli(['policy', 'apply', workflowId, file])).toMatchObject({ code: 4, stdout: '' });
  });

  test('a mode', async () => {
    const { run, workflowId } = await waiting();
    receiptOf(await cli(['policy', 'apply', workflowId, '--mode', 'approve_all', '--reason', 'we trust it']));
    expect(await run.result()).toMatchObject({ outcomes: [{ outcome: 'superseded', ran: 'yes' }] });
  });

  test('channels: one that the worker lacks is named, and nothing changes', async () => {
    const { run, workflowId } = await waiting();
    const { code, stderr } = await cli(['policy', 'apply', workflowId, '--channels', 'hook', 'fax']);
    expect([code, stderr]).toEqual([1, expect.stringContaining("'hook'")]);
    expect(await run.open()).toHaveLength(1);
  });

  test('a file that does not load names its line, and nothing is sent', async () => {
    const bad = join(folder, 'bad.yaml');
    writeFileSync(bad, 'version: 1\nrules:\n  - { pattern: pay, action: maybe }\n');
    const { run, workflowId } = await waiting();
    const { code, stderr } = await cli(['policy', 'apply', workflowId, bad]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*bad\.yaml:3:\d+ .+\n$/)]);
    expect(await run.open()).toHaveLength(1);
  });
});

describe('message', () => {
  test.each<[string, string[], string]>([
    ['an argument', ['And order o-18?'], ''],
    ['standard input', ['-'], 'And order o-18?\n'],
  ])('of %s reaches the model of a session', async (_name, words, input) => {
    const run = await world.start([{ text: 'first' }, { text: 'second' }], { session: true });
    const { workflowId } = run;
    await run.awaitsUser();
    const told = await cli(['message', workflowId, ...words, '--by', 'carl', '--reason', 'curious'], { input });
    expect(receiptOf(told).message).toBe('the model gets the message before its next turn');
    await eventually('the second answer', async () => (await run.status()).turn === 2);
    expect(await run.handle.query('transcript')).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'user', content: 'And order o-18?' },
      { role: 'assistant', content: 'second' },
    ]);
    const { entries } = await world.client.journal(workflowId);
    expect(entries).toMatchObject([{ kind: 'message', reviewerId: 'carl', identity: 'claimed', reason: 'curious' }]);
    await run.handle.terminate();
  });

  test('--retry has the model asked again whose last call failed', async () => {
    const run = await world.start([{ error: { status: 401 } }], { session: true });
    const { workflowId } = run;
    await eventually('the turn fails', async () => (await run.status()).failedTurn !== undefined);
    expect(JSON.parse((await cli(['show', workflowId])).stdout)).toMatchObject({
      status: 'running',
      run: { awaitsMessage: true, failedTurn: { turn: 1, code: 'model_refused' } },
    });
    expect(receiptOf(await cli(['message', workflowId, '--retry', '--by', 'carl'])).message).toBe(
      'the model is asked again',
    );
    await run.handle.terminate();
  });

  test('--stop ends the turn that is under way', async () => {
    const run = await world.start([{ text: 'never', delayMs: 86_400_000 }], { session: true });
    const { workflowId } = run;
    await eventually('the model is asked', async () =>
      (await run.handle.describe()).raw.pendingActivities?.some(
        ({ activityType }) => activityType?.name === activityNames.callModel,
      ),
    );
    const words = ['--stop', '--by', 'carl', '--reason', 'enough'];
    expect(receiptOf(await cli(['message', workflowId, ...words])).message).toBe(
      'the turn is stopped: nothing more of it starts',
    );
    await run.awaitsUser();
    const shown = await cli(['show', workflowId, '--events']);
    expect(shown.stdout).toContain('{"type":"turn_ended","turn":1,"stopped":true}');
    await run.handle.terminate();
  });

  test.each([
    [['more', '--retry'], 'error: Give one of TEXT, --retry and --stop.\n'],
    [['--stop', '--retry'], 'error: Give one of TEXT, --retry and --stop.\n'],
    [[], 'error: Give the message that the agent gets: TEXT, or - to read standard input.\n'],
  ])('%j: one sentence, exit 2', async (words, stderr) => {
    expect(await cli(['message', 'any', ...words])).toMatchObject({ code: 2, stdout: '', stderr });
  });

  test('to a run that is no session: one sentence, exit 1', async () => {
    const { workflowId } = await waiting();
    expect(await cli(['message', workflowId, 'more'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: this run is no session: it takes no further messages of its user\n',
    });
  });

  test('run --session says why a turn failed, and how to have it tried again', async () => {
    const turns = JSON.stringify([{ error: { status: 401 } }]);
    const id = `session-${randomUUID()}`;
    const flags = ['--session', '--input', turns, '--task-queue', world.taskQueue, '--id', id];
    const run = startCli(['run', 'tester', ...flags]);
    await run.shows(`refused the request (401)`, 'stderr');
    await run.shows(`Try again: countersign message ${id} --retry`, 'stderr');
    await cli(['close', id]);
    expect((await run.ended).code).toBe(0);
  });

  test('run --session shows each answer, and exits with 0 when it is closed', async () => {
    const turns = JSON.stringify([{ text: 'first' }, { text: 'second' }]);
    const id = `session-${randomUUID()}`;
    const flags = ['--session', '--input', turns, '--task-queue', world.taskQueue, '--id', id];
    const run = startCli(['run', 'tester', ...flags]);
    await run.shows(`Say more: countersign message ${id} TEXT`, 'stderr');
    await run.shows('first', 'stderr');
    expect((await cli(['show', id])).stdout).toContain('"awaitsMessage":true');
    await cli(['message', id, 'more']);
    await run.shows('second', 'stderr');
    await cli(['close', id]);
    const ended = await run.ended;
    expect(ended.code).toBe(0);
    expect(jsonLines(ended)).toMatchObject([{ workflowId: id, status: 'closed', output: 'second' }]);
  });
});

describe('close, and run --mode', () => {
  test('waiting calls are cancelled; a second time: exit 4', async () => {
    const { run, workflowId, requestId } = await waiting();
    expect(receiptOf(await cli(['close', workflowId, '--reason', 'enough']))).toMatchObject({ accepted: true });
    expect(await run.result()).toMatchObject({ status: 'closed', outcomes: [{ requestId, outcome: 'cancelled' }] });
    expect(await cli(['close', workflowId])).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: Run '${workflowId}' is closed and takes no more messages.\n`,
    });
  });

  test("run --mode applies the mode to the run's policy", async () => {
    const turns = JSON.stringify([
      { calls: [{ tool: 'pay', args: { to: 'a', amount: 1 } }] },
      { text: '{{lastResult}}' },
    ]);
    const flags = ['--mode', 'plan', '--input', turns, '--task-queue', world.taskQueue];
    expect(jsonLines(await cli(['run', 'tester', ...flags]))[0]).toMatchObject({
      output: 'Denied: Read-only mode',
      outcomes: [{ outcome: 'denied_by_policy' }],
    });
  });
});

test.each([
  ['extend', '0'.repeat(32), '--until', '2030-01-31T12:00:00Z'],
  ['delegate', '0'.repeat(32), '--to', 'ann'],
  ['respond', '0'.repeat(32), 'x'],
  ['edit', '0'.repeat(32), '--args', '{}'],
])('%s of a run that does not exist: exit 3', async (...args) => {
  const run = `nowhere-${randomUUID()}`;
  expect(await cli([...args, '--run', run])).toEqual({
    code: 3,
    stdout: '',
    stderr: `error: There is no run '${run}' in namespace 'default'.\n`,
  });
});

test.each([
  [['grants', 'list', 'nowhere']],
  [['grants', 'revoke', 'nowhere', '--all']],
  [['policy', 'apply', 'nowhere', '--mode', 'plan']],
  [['message', 'nowhere', 'x']],
  [['close', 'nowhere']],
])('%j: exit 3', async (args) => {
  expect(await cli(args)).toMatchObject({
    code: 3,
    stderr: "error: There is no run 'nowhere' in namespace 'default'.\n",
  });
});

test('without a worker: recorded; a new worker applies each', async () => {
  const { run, workflowId, requestId } = await waiting();
  await world.stopWorker();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const recorded = await Promise.all([
    cli(['extend', requestId, '--until', until, '--run', workflowId]),
    cli(['policy', 'apply', workflowId, '--mode', 'confirm_all']),
    cli(['grants', 'revoke', workflowId, '--all']),
  ]);
  // Last, because a settled request cannot be extended.
  const denied = await cli(['deny', requestId, '--always', 'tool', '--run', workflowId]);
  for (const each of [...recorded, denied]) {
    expect(receiptOf(each)).toMatchObject({
      recorded: true,
      message: expect.stringMatching(/^The \w+ is recorded, not yet applied: No worker answers/),
    });
  }
  await world.startWorker();
  expect(await run.result()).toMatchObject({ outcomes: [{ requestId, outcome: 'denied' }] });
  expect(await world.client.grants(workflowId)).toMatchObject([{ approved: false, scope: { kind: 'tool' } }]);
  expect((await run.status()).refused.total).toBe(0);
});
