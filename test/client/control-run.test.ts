import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ApprovalRequest, DelegateMessage, ExtendMessage, RevokeMessage } from '../../src/contract.ts';
import type { ProblemError } from '../../src/core/base/problem.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { eventually } from '../support/eventually.ts';
import { type RunInTest, openWorld } from '../support/world.ts';

const world = forAllTests(() => openWorld());

const directory = { people: { ann: { groups: ['finance'] }, bob: { groups: ['finance'] } } };
const ask = { reviewers: ['group:finance'], quorum: 2 };
const reviewed = { version: 1, rules: [{ pattern: 'pay', action: 'ask', ask }], directory };

interface Waiting {
  run: RunInTest;
  workflowId: string;
  requests: ApprovalRequest[];
  requestId: string;
}

async function waiting(policy?: object, count = 1): Promise<Waiting> {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}`, amount: index },
  }));
  const input = policy === undefined ? {} : { policy: policy as { version: 1 } };
  const run = await world.start([{ calls }, { text: '{{lastResult}}' }], input);
  const requests = await run.open(count);
  return { run, workflowId: run.workflowId, requests, requestId: requests[0]!.requestId };
}

const later = ({ requests }: Waiting, ms = 60_000): string =>
  new Date(Date.parse(requests[0]!.deadline!) + ms).toISOString();

describe('decide, in all its forms', () => {
  test('always: the receipt names the grant and what it settled; grants lists it; revoke removes it', async () => {
    const { run, workflowId, requests, requestId } = await waiting(undefined, 2);
    const always = { kind: 'arguments', match: { to: 'p*' }, expiresIn: '1h', uses: 3 } as const;
    const receipt = await world.client.decide({ requestId, approved: true, always, reviewerId: 'ann' });
    expect(receipt).toMatchObject({
      outcome: 'approved',
      grantId: 'grant-1',
      settled: [{ requestId: requests[1]!.requestId, outcome: 'superseded' }],
    });
    expect(await world.client.grants(workflowId)).toMatchObject([
      {
        grantId: 'grant-1',
        tool: 'pay',
        approved: true,
        scope: { kind: 'arguments', match: { to: 'p*' } },
        usesLeft: 2,
        by: [{ reviewerId: 'ann', identity: 'claimed' }],
        requestId,
      },
    ]);
    await run.result();
    // The run has ended; its grants can still be read.
    expect(await world.client.grants(workflowId)).toHaveLength(1);
  });

  test('edited arguments run, and the model is told; the same decision again returns its receipt', async () => {
    const { run, workflowId, requestId } = await waiting();
    const edited = { requestId, approved: true, modifiedArguments: { to: 'eve', amount: 3 }, decisionId: randomUUID() };
    const receipt = await world.client.decide(edited, { workflowId });
    expect(receipt).toMatchObject({ accepted: true, outcome: 'approved' });
    expect(await world.client.decide(edited, { workflowId })).toEqual(receipt);
    const { output } = await run.result();
    expect(output).toMatch(/^A reviewer changed the arguments .*paid 3 to eve$/s);
  });

  test('edited arguments that the tool does not accept are refused, and the request stays open', async () => {
    const { run, workflowId, requestId } = await waiting();
    await expect(
      world.client.decide({ requestId, approved: true, modifiedArguments: { to: 7 } }, { workflowId }),
    ).rejects.toMatchObject({ code: 'arguments_invalid' });
    expect(await run.open()).toHaveLength(1);
  });

  test("a response instead of the tool's result", async () => {
    const { run, requestId } = await waiting();
    const receipt = await world.client.decide({ requestId, approved: false, response: 'pretend it is paid' });
    expect(receipt).toMatchObject({ outcome: 'responded' });
    expect(await run.result()).toMatchObject({ output: 'pretend it is paid' });
  });

  test('votes: each receipt counts them; a person who may not vote is told so', async () => {
    const { run, workflowId, requestId } = await waiting(reviewed);
    const vote = (reviewerId: string) => world.client.decide({ requestId, approved: true, reviewerId }, { workflowId });
    await expect(vote('mallory')).rejects.toMatchObject({ code: 'not_entitled' });
    expect(await vote('ann')).toMatchObject({ accepted: true, votes: { have: 1, need: 2 } });
    expect(await world.client.approvals.get(requestId, { workflowId })).toMatchObject({
      approvals: { have: 1, need: 2 },
      votes: [{ reviewerId: 'ann', identity: 'claimed', approved: true }],
    });
    await expect(vote('ann')).rejects.toMatchObject({ code: 'already_settled' });
    expect(await vote('bob')).toMatchObject({ outcome: 'approved' });
    await run.result();
  });
});

describe('extend, delegate, revoke, setPolicy and closeRun, with a worker', () => {
  test('extend: the deadline moves, but not past the ceiling and not back', async () => {
    const asked = await waiting();
    const { run, requestId } = asked;
    const until = later(asked);
    expect(await world.client.extend({ requestId, until, by: 'ann' })).toEqual({
      requestId,
      accepted: true,
      message: `request ${requestId} waits until ${until}`,
    });
    expect((await run.open())[0]!.deadline).toBe(until);
    await expect(world.client.extend({ requestId, until })).rejects.toMatchObject({ code: 'invalid_message' });
    await expect(
      world.client.extend({ requestId, until: '2999-01-01T00:00:00Z' }, { workflowId: run.workflowId }),
    ).rejects.toMatchObject({ code: 'not_permitted_by_ceiling' });
  });

  test('delegate: the delegate decides', async () => {
    const { run, workflowId, requestId } = await waiting({
      version: 1,
      rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }],
    });
    const delegation = { requestId, to: 'carl', by: 'ann' };
    expect(await world.client.delegate(delegation)).toMatchObject({ accepted: true });
    expect(await world.client.approvals.get(requestId, { workflowId })).toMatchObject({
      delegations: [{ from: 'ann', to: 'carl' }],
    });
    const decision = { requestId, approved: true };
    await expect(world.client.decide({ ...decision, reviewerId: 'ann' })).rejects.toMatchObject({
      code: 'not_entitled',
    });
    expect(await world.client.decide({ ...decision, reviewerId: 'carl' })).toMatchObject({ outcome: 'approved' });
    await run.result();
  });

  test('revoke: by id, all, and an unknown grant', async () => {
    const { workflowId, requests } = await waiting(
      { version: 1, rules: [{ pattern: 'pay', action: 'ask', ask: { always: 'call' } }] },
      3,
    );
    for (const { requestId } of requests.slice(0, 2)) {
      await world.client.decide({ requestId, approved: true, always: true }, { workflowId });
    }
    const ids = (await world.client.grants(workflowId)).map(({ grantId }) => grantId);
    expect(ids).toEqual(['grant-1', 'grant-2']);
    await expect(world.client.revoke(workflowId, { grants: ['grant-9'] })).rejects.toMatchObject({
      code: 'grant_unknown',
    });
    expect(await world.client.revoke(workflowId, { grants: ['grant-2'], by: 'ann' })).toMatchObject({
      accepted: true,
      message: 'revoked grant-2',
    });
    expect(await world.client.revoke(workflowId, { grants: 'all' })).toMatchObject({ message: 'revoked grant-1' });
    expect(await world.client.grants(workflowId)).toEqual([]);
  });

  test('setPolicy: open requests are evaluated again and named', async () => {
    const { run, workflowId, requestId } = await waiting();
    await expect(
      world.client.setPolicy(workflowId, { policy: { version: 1, rules: [{ pattern: 'pay' }] } }),
    ).rejects.toMatchObject({ code: 'policy_invalid' });
    const policy = { version: 1, rules: [{ pattern: 'pay', action: 'deny', reason: 'the bank is closed' }] };
    expect(await world.client.setPolicy(workflowId, { policy, by: 'ann' })).toMatchObject({
      accepted: true,
      settled: [{ requestId, outcome: 'superseded' }],
    });
    expect(await run.result()).toMatchObject({ output: 'Denied: the bank is closed' });
    await expect(world.client.setPolicy(workflowId, { mode: 'plan' })).rejects.toMatchObject({ code: 'run_closed' });
  });

  test('closeRun: open requests are cancelled, and the run ends as closed, once', async () => {
    const { run, workflowId, requestId } = await waiting();
    expect(await world.client.closeRun(workflowId, { by: 'ann', reason: 'enough' })).toMatchObject({ accepted: true });
    expect(await run.result()).toMatchObject({
      status: 'closed',
      outcomes: [{ requestId, outcome: 'cancelled', ran: 'no' }],
    });
    await expect(world.client.closeRun(workflowId)).rejects.toMatchObject({ code: 'run_closed' });
  });

  test('the same message id again returns the original receipt, also after the run has ended', async () => {
    const asked = await waiting();
    const { run, workflowId, requestId } = asked;
    const message = { requestId, until: later(asked), messageId: randomUUID() };
    const receipt = await world.client.extend(message, { workflowId });
    expect(await world.client.extend(message, { workflowId })).toEqual(receipt);
    await expect(world.client.extend({ ...message, until: later(asked, 120_000) })).rejects.toMatchObject({
      code: 'invalid_message',
    });
    await world.client.decide({ requestId, approved: true });
    await run.result();
    expect(await world.client.extend(message, { workflowId })).toEqual(receipt);
  });
});

describe('message', () => {
  const session = async (): Promise<RunInTest> => {
    const run = await world.start([{ text: 'first' }, { text: 'second' }], { session: true });
    await run.awaitsUser();
    return run;
  };

  test('reaches the model; a repetition returns the original receipt; other content under its id is refused', async () => {
    const { workflowId, ...run } = await session();
    const message = { content: 'more', by: 'carl', messageId: randomUUID() };
    const receipt = await world.client.message(workflowId, message);
    expect(receipt).toEqual({
      requestId: '',
      accepted: true,
      message: 'the model gets the message before its next turn',
    });
    expect(await world.client.message(workflowId, message)).toEqual(receipt);
    await expect(world.client.message(workflowId, { ...message, content: 'else' })).rejects.toMatchObject({
      code: 'invalid_message',
    });
    await eventually('the second answer', async () => (await run.status()).turn === 2);
    await world.client.closeRun(workflowId);
    expect(await run.result()).toMatchObject({ status: 'closed', output: 'second' });
    await expect(world.client.message(workflowId, { content: 'late' })).rejects.toMatchObject({ code: 'run_closed' });
    // The receipt of the first one holds.
    expect(await world.client.message(workflowId, message)).toEqual(receipt);
  });

  test.each<[object, string]>([
    [{ content: '' }, 'invalid_message'],
    [{ content: 'x'.repeat(100_001) }, 'too_large'],
    [{ content: 'hi', signature: { keyId: 'k', signedAt: 'now', value: 'v' } }, 'invalid_message'],
  ])('%#: refused before anything is sent', async (message, code) => {
    await expect(world.client.message('nowhere', message as { content: string })).rejects.toMatchObject({ code });
  });

  test('of nobody to a run that is no session, or to none', async () => {
    const { workflowId } = await waiting();
    await expect(world.client.message(workflowId, { content: 'hi' })).rejects.toMatchObject({
      code: 'invalid_message',
    });
    await expect(world.client.message('nowhere', { content: 'hi' })).rejects.toMatchObject({ code: 'run_not_found' });
  });

  test('without a worker: recorded, and applied once by the next', async () => {
    const { workflowId, ...run } = await session();
    await world.stopWorker();
    const message = { content: 'while away', messageId: randomUUID() };
    expect(await world.client.message(workflowId, message)).toMatchObject({
      recorded: true,
      message: expect.stringMatching(/^The message is recorded, not yet applied: No worker answers/),
    });
    await world.startWorker();
    expect(await world.client.message(workflowId, message)).toMatchObject({ accepted: true, requestId: '' });
    await eventually('the second answer', async () => (await run.status()).turn === 2);
    const { entries } = await world.client.journal(workflowId);
    expect(entries.filter(({ kind }) => kind === 'message')).toHaveLength(1);
    await run.handle.terminate();
  });
});

describe('errors are reported before anything is sent', () => {
  const requestId = '0'.repeat(32);
  const to = { workflowId: 'run-nowhere' };
  test.each<[string, () => Promise<unknown>, object]>([
    [
      'an instant that is none',
      () => world.client.extend({ requestId, until: 'tomorrow' }, to),
      { code: 'invalid_message', message: "'until' must be an instant with its offset, such as 2030-01-31T12:00:00Z" },
    ],
    [
      'a misspelt field',
      () => world.client.extend({ requestId, untill: 'x' } as never, to),
      { code: 'invalid_message', message: "unknown field 'untill'" },
    ],
    [
      'what is no request id',
      () => world.client.delegate({ requestId: 'x', to: 'ann' }, to),
      { code: 'unknown_request' },
    ],
    [
      'a group as the one who decides',
      () => world.client.delegate({ requestId, to: 'group:cfo' }, to),
      { code: 'invalid_message', message: "'to' must be the name of one person" },
    ],
    ['no grants', () => world.client.revoke(to.workflowId, { grants: [] }), { code: 'invalid_message' }],
    ['no policy', () => world.client.setPolicy(to.workflowId, {}), { code: 'policy_invalid' }],
    [
      'channels that are no list',
      () => world.client.setPolicy(to.workflowId, { channels: {} } as never),
      { message: "'channels' must be a list of at most 20 names of channels" },
    ],
    ['a run that does not exist', () => world.client.closeRun(to.workflowId), { code: 'run_not_found' }],
    [
      'a run that does not exist, by update',
      () => world.client.revoke(to.workflowId, { grants: 'all' }),
      { code: 'run_not_found' },
    ],
    ['grants of a run that does not exist', () => world.client.grants(to.workflowId), { code: 'run_not_found' }],
  ])('%s', async (_name, send, problem) => {
    await expect(send()).rejects.toMatchObject({ name: 'ProblemError', ...problem });
  });
});

test('without a worker: recorded, not yet applied; a worker applies each once; a repetition returns its receipt', async () => {
  const asked = await waiting(reviewed);
  const granted = await waiting(undefined, 2);
  const closing = await waiting();
  const { workflowId, requestId } = asked;
  const always = { kind: 'call' } as const;
  await world.client.decide({ requestId: granted.requestId, approved: true, always });
  await world.stopWorker();
  const until = later(asked);
  const timeoutMs = 2_000;
  const options = { workflowId, timeoutMs };
  const send = {
    extend: () => world.client.extend({ requestId, until, by: 'ann', messageId: 'more-time' }, options),
    delegate: () => world.client.delegate({ requestId, to: 'carl', by: 'bob', messageId: 'my-seat' }, options),
    setPolicy: () => world.client.setPolicy(workflowId, { mode: 'confirm_all', messageId: 'strict' }, { timeoutMs }),
    revoke: () => world.client.revoke(granted.workflowId, { grants: 'all', messageId: 'none-left' }, { timeoutMs }),
  };
  for (const each of Object.values(send)) {
    expect(await each()).toMatchObject({
      accepted: true,
      recorded: true,
      message: expect.stringMatching(/^The \w+ is recorded, not yet applied: No worker answers for task queue /),
    });
  }
  expect(await world.client.closeRun(closing.workflowId)).toMatchObject({ recorded: true });
  await world.startWorker();
  expect(await closing.run.result()).toMatchObject({ status: 'closed' });
  await eventually('the revocation', async () => (await world.client.grants(granted.workflowId)).length === 0);
  const details = await eventually('the extension', async () => {
    const found = await world.client.approvals.get(requestId, { workflowId });
    return found.deadline === until && found;
  });
  expect(details).toMatchObject({ delegations: [{ from: 'bob', to: 'carl' }] });
  for (const each of Object.values(send)) {
    const receipt = await each();
    expect(receipt).toMatchObject({ accepted: true });
    expect(receipt.recorded).toBeUndefined();
  }
  // The late effects of the abandoned updates changed nothing and were not counted as refused.
  expect((await asked.run.status()).refused.total).toBe(0);
});

test('a closed run gives the receipt of a repeated message, and refuses other content under its id', async () => {
  const asked = await waiting(reviewed);
  const { workflowId, requestId, run } = asked;
  const { client } = world;
  const options = { workflowId };
  const until = later(asked);
  const kinds = {
    extend: {
      first: { requestId, until, by: 'ann', messageId: 'extend' },
      other: { requestId, until, by: 'bob', messageId: 'extend' },
      send: (message: object) => client.extend(message as ExtendMessage, options),
    },
    delegate: {
      first: { requestId, to: 'carl', by: 'bob', messageId: 'delegate' },
      other: { requestId, to: 'dora', by: 'bob', messageId: 'delegate' },
      send: (message: object) => client.delegate(message as DelegateMessage, options),
    },
    setPolicy: {
      first: { mode: 'confirm_all', messageId: 'setPolicy' },
      other: { mode: 'plan', messageId: 'setPolicy' },
      send: (message: object) => client.setPolicy(workflowId, message),
    },
    revoke: {
      first: { grants: 'all', messageId: 'revoke' },
      other: { grants: ['grant-1'], messageId: 'revoke' },
      send: (message: object) => client.revoke(workflowId, message as RevokeMessage),
    },
  };
  // By signal: the server then has no update whose result it could repeat without the run.
  for (const [name, { first }] of Object.entries(kinds)) await run.handle.signal(name, first);
  await client.closeRun(workflowId);
  await run.result();
  for (const [name, { first, other, send }] of Object.entries(kinds)) {
    const refusal = await eventually(`an answer about ${name}`, () =>
      // On a busy machine the query may be late; the client then knows only that the run is closed.
      send(other).then(
        (accepted) => accepted as unknown,
        (error: ProblemError) => error.code !== 'run_closed' && error,
      ),
    );
    expect(refusal).toMatchObject({
      code: 'invalid_message',
      message: `another message has the id '${name}' already: give each message its own id`,
    });
    const receipt = await run.handle.query('receipt', { messageId: name });
    expect(receipt).toMatchObject({ accepted: true });
    expect(await send(first)).toEqual(receipt);
  }
});
