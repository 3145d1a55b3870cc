import { describe, expect, test } from 'vitest';
import type { ApprovalDetails, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * Tests who may answer, and how many must, on real runs. For all cases of entitlement, see
 * test/core/people/entitlement.test.ts.
 */

const world = forAllTests(() => openWorld());

const directory = {
  people: {
    ann: { groups: ['finance'] },
    bob: { groups: ['finance'] },
    cat: { groups: ['legal'] },
    dan: { groups: ['finance', 'legal'] },
  },
};
const asking = (ask: JsonObject): JsonObject => ({ directory, rules: [{ pattern: 'pay', action: 'ask', ask }] });
const start = (to: string, ask: JsonObject, more: object = {}): Promise<RunInTest> =>
  world.start([{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: 'told: {{lastResult}}' }], {
    policy: asking(ask),
    ...more,
  });
const send = (run: RunInTest, name: string, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });

/** `NAME` approves, `-NAME` denies; returns the outcome or code of each answer. */
async function answer(run: RunInTest, requestId: string, words: string[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const word of words) {
    const approved = !word.startsWith('-');
    const reviewerId = word.replace('-', '');
    const decision = { requestId, approved, ...(reviewerId === 'nobody' ? {} : { reviewerId }) };
    answers.push(
      await send(run, 'decide', decision).then(
        ({ outcome, votes }) => outcome ?? `${votes?.have}/${votes?.need}`,
        (error: { cause: { type: string } }) => error.cause.type,
      ),
    );
  }
  return answers;
}

const two = { reviewers: ['group:finance'], quorum: 2 };
test.each<[string, JsonObject, string[], unknown[]]>([
  ['a quorum', two, ['ann', 'bob'], ['1/2', 'approved']],
  ['one person is one vote', two, ['ann', 'ann', 'bob'], ['1/2', 'already_settled', 'approved']],
  [
    'not of the group',
    two,
    ['cat', 'eve', 'nobody', 'ann', 'dan'],
    ['not_entitled', 'not_entitled', 'not_entitled', '1/2', 'approved'],
  ],
  ['a person has one vote, in all spellings', two, ['ann', 'ANN', 'Bob'], ['1/2', 'already_settled', 'approved']],
  ['one denial settles', two, ['ann', '-bob'], ['1/2', 'denied']],
  ['whoever approved may deny before it is settled', two, ['ann', '-ann'], ['1/2', 'denied']],
  ['without a veto others go on', { ...two, veto: false }, ['-ann', 'bob', 'dan'], ['0/2', '1/2', 'approved']],
  ['without a veto, until there are too few', { ...two, veto: false }, ['-ann', '-bob'], ['0/2', 'denied']],
  ['one of each', { one_of_each: ['group:finance', 'group:legal'] }, ['dan', 'cat'], ['1/2', 'approved']],
  [
    'one of each needs two people',
    { one_of_each: ['group:finance', 'group:legal'] },
    ['ann', 'bob', 'cat'],
    ['1/2', '1/2', 'approved'],
  ],
  ['of anyone, but known by name', { quorum: 2 }, ['nobody', 'x', 'y'], ['not_entitled', '1/2', 'approved']],
])('%s', async (name, ask, words, expected) => {
  const run = await start(name, ask);
  const [request] = await run.open();
  expect(await answer(run, request!.requestId, words)).toEqual(expected);
  const { outcomes } = await run.result();
  expect(outcomes).toMatchObject([{ outcome: expected.at(-1) }]);
  expect(world.ran().filter((line) => line === `pay ${name} 1`)).toHaveLength(expected.at(-1) === 'approved' ? 1 : 0);
});

describe('the person who started the run', () => {
  const caller = { caller: { userId: 'ann' } };
  test.each<[string, JsonObject, string[], unknown[]]>([
    ['does not approve it', { reviewers: ['group:finance'] }, ['ann', 'bob'], ['self_approval', 'approved']],
    [
      'does not approve it in another spelling',
      { reviewers: ['group:Finance'] },
      ['Ann', 'an\u200bn', ' ANN', 'Bob'],
      ['self_approval', 'self_approval', 'self_approval', 'approved'],
    ],
    ['may deny it', { reviewers: ['group:finance'] }, ['-ann'], ['denied']],
    ['approves where the rule allows it', { reviewers: ['ann'], allow_self: true }, ['ann'], ['approved']],
  ])('%s', async (name, ask, words, expected) => {
    const run = await start(name, ask, caller);
    const [request] = await run.open();
    expect(await answer(run, request!.requestId, words)).toEqual(expected);
    await run.result();
  });
});

describe('a seat', () => {
  test('delegated: the delegate answers, the delegator does not', async () => {
    const run = await start('seat', two);
    const [request] = await run.open();
    const { requestId } = request!;
    expect(await send(run, 'delegate', { requestId, to: 'eve', by: 'ann' })).toMatchObject({ accepted: true });
    expect(await answer(run, requestId, ['ann', 'eve', 'bob'])).toEqual(['not_entitled', '1/2', 'approved']);
    await run.result();
  });

  test.each<[string, object, string]>([
    ['of another', { to: 'cat', by: 'eve' }, 'not_entitled'],
    ['of nobody', { to: 'cat' }, 'not_entitled'],
    ['to a group', { to: 'group:legal', by: 'ann' }, 'invalid_message'],
    ['to themselves', { to: 'ann', by: 'ann' }, 'invalid_message'],
  ])('%s: refused', async (_, message, code) => {
    const run = await start('refused', two);
    const [request] = await run.open();
    const delegation = send(run, 'delegate', { requestId: request!.requestId, ...message });
    await expect(delegation).rejects.toMatchObject({ cause: { type: code } });
    await run.handle.terminate();
  });
});

test('votes are shown, and survive a restart of the worker', async () => {
  const run = await start('shown', two);
  const [request] = await run.open();
  const { requestId } = request!;
  expect(request!.reviewers).toEqual(['group:finance']);
  await answer(run, requestId, ['ann']);
  await world.stopWorker();
  await world.startWorker();
  const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
  expect(details.votes).toMatchObject([{ reviewerId: 'ann', identity: 'claimed', approved: true }]);
  expect(await answer(run, requestId, ['bob'])).toEqual(['approved']);
  await run.result();
});

test('the same vote again under its id: the original receipt, and no second vote', async () => {
  const run = await start('again', two);
  const [request] = await run.open();
  const vote = { requestId: request!.requestId, approved: true, reviewerId: 'ann', decisionId: 'd1' };
  const first = await send(run, 'decide', vote);
  expect(first).toMatchObject({ accepted: true, votes: { have: 1, need: 2 } });
  expect(await send(run, 'decide', vote)).toEqual(first);
  expect(await answer(run, request!.requestId, ['bob'])).toEqual(['approved']);
  expect(await send(run, 'decide', vote)).toMatchObject({ accepted: true, outcome: 'approved' });
  await run.result();
});

test('only the ceiling can define the members of a group that it names', async () => {
  const strict = await openWorld({
    policy: { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'] } }], directory },
  });
  try {
    const run = await strict.start([{ calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] }, { text: 'end' }], {
      policy: { directory: { people: { eve: { groups: ['finance'] } } }, rules: [] },
    });
    const [request] = await run.open();
    expect(await answer(run, request!.requestId, ['eve', 'ann'])).toEqual(['not_entitled', 'approved']);
    await run.result();
  } finally {
    await strict.close();
  }
});

describe('what can never be approved', () => {
  const caller = { caller: { userId: 'ann' } };
  const three = { reviewers: ['group:finance'], quorum: 3 };

  test('is said before anybody answers', async () => {
    const run = await start('impossible', three, caller);
    const [request] = await run.open();
    const { requestId } = request!;
    const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
    expect(details.cannotBeApproved).toBe(
      `It cannot be approved: it needs 3 approvals of 'group:finance', and only 'bob' and 'dan' can give one. The run was started by 'ann'. Deny it: a new run needs a policy with more reviewers.`,
    );
    expect(await answer(run, requestId, ['-bob'])).toEqual(['denied']);
    const settled = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
    expect(settled.cannotBeApproved).toBeUndefined();
    await run.result();
  });

  test('is denied at once where the policy says so', async () => {
    const run = await world.start(
      [{ calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] }, { text: '{{lastResult}}' }],
      {
        policy: { ...asking(three), approval: { on_impossible: 'deny' } },
        ...caller,
      },
    );
    const { outcomes, output } = await run.result();
    expect(outcomes).toMatchObject([{ outcome: 'denied_by_policy' }]);
    expect(output).toContain(`only 'bob' and 'dan' can give one`);
  });

  test('is not said of a request that waits for an escalation', async () => {
    const run = await start(
      'later',
      { reviewers: ['ann'], timeout: '2h', escalate: [{ after: '1h', to: ['bob'] }] },
      caller,
    );
    const [request] = await run.open();
    const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId: request!.requestId });
    expect(details.cannotBeApproved).toBeUndefined();
    await run.handle.terminate();
  });

  test('no delegation makes it so, and a seat comes back until it is used', async () => {
    const run = await start('back', { reviewers: ['ann', 'bob'], quorum: 2 });
    const [request] = await run.open();
    const { requestId } = request!;
    await expect(send(run, 'delegate', { requestId, to: 'bob', by: 'ann' })).rejects.toMatchObject({
      cause: { type: 'invalid_message', message: expect.stringContaining(`only 'bob' can give one`) },
    });
    expect(await send(run, 'delegate', { requestId, to: 'eve', by: 'ann' })).toMatchObject({ accepted: true });
    expect(await send(run, 'delegate', { requestId, to: 'ANN', by: 'ann' })).toMatchObject({
      accepted: true,
      message: `request ${requestId}: 'ann' decides again`,
    });
    expect(await answer(run, requestId, ['eve', 'ann'])).toEqual(['not_entitled', '1/2']);
    expect(await send(run, 'delegate', { requestId, to: 'eve', by: 'bob' })).toMatchObject({ accepted: true });
    expect(await answer(run, requestId, ['eve'])).toEqual(['approved']);
    await run.result();
  });
});

describe('people who are away', () => {
  test('have a deputy: the request goes to them, and the audit names both', async () => {
    const policy = {
      rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['bob'] } }],
      directory: { people: { bob: { away: [{ from: '2000-01-01', until: '2999-12-31', deputy: 'eve' }] } } },
    };
    const away = await openWorld({ policy });
    try {
      const run = await away.start([{ calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] }, { text: 'end' }]);
      const [request] = await run.open();
      const { requestId } = request!;
      const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
      expect(details).toMatchObject({ delegations: [{ from: 'bob', to: 'eve' }], approvers: ['eve'] });
      expect(await answer(run, requestId, ['bob', 'eve'])).toEqual(['not_entitled', 'approved']);
      await run.result();
      const { entries } = await away.client.journal(run.workflowId);
      expect(entries.filter(({ kind }) => kind === 'delegated')).toMatchObject([
        { reviewerId: 'bob', to: ['eve'], by: 'away', reason: 'away until 3000-01-01T00:00:00.000Z' },
      ]);
    } finally {
      await away.close();
    }
  });

  test('and a request that waits for them is moved by an operator, with a reason', async () => {
    const run = await start('moved', { reviewers: ['bob'] }, { caller: { userId: 'ann' } });
    const [request] = await run.open();
    const { requestId } = request!;
    const move = { requestId, from: 'bob', to: 'eve', by: 'olga', reason: 'Bob is ill' };
    for (const [refused, code] of [
      [{ ...move, reason: ' ' }, 'invalid_message'],
      [{ ...move, by: undefined }, 'not_entitled'],
      [{ ...move, from: 'cat' }, 'not_entitled'],
      [{ ...move, to: 'ANN' }, 'self_approval'],
      [{ ...move, by: 'Ann' }, 'self_approval'],
      [{ ...move, from: 'group:finance' }, 'invalid_message'],
    ] as const) {
      await expect(send(run, 'delegate', refused)).rejects.toMatchObject({ cause: { type: code } });
    }
    expect(await send(run, 'delegate', move)).toMatchObject({
      accepted: true,
      message: `request ${requestId}: 'eve' decides in the place of 'bob'`,
    });
    expect(await answer(run, requestId, ['bob', 'eve'])).toEqual(['not_entitled', 'approved']);
    await run.result();
    const { entries } = await world.client.journal(run.workflowId);
    expect(entries.filter(({ kind }) => kind === 'delegated')).toMatchObject([
      { reviewerId: 'bob', to: ['eve'], by: 'operator', byId: 'olga', reason: 'Bob is ill' },
    ]);
  });

  test('a rule with verified takes no claimed name for an operator', async () => {
    const run = await start('verified', { reviewers: ['bob'], verified: true });
    const [request] = await run.open();
    const { requestId } = request!;
    const move = { requestId, from: 'bob', to: 'eve', by: 'olga', reason: 'Bob is ill' };
    await expect(send(run, 'delegate', move)).rejects.toMatchObject({ cause: { type: 'unverified_reviewer' } });
    await run.handle.terminate();
  });
});

describe('the ids that the operator says are one person', () => {
  const known = forAllTests(() =>
    openWorld({
      policy: {
        rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'], quorum: 2 } }],
        directory: {
          people: {
            ann: { groups: ['finance'], name: 'Ann Lee', also: ['ann@acme.com', 'u.17'] },
            bob: { groups: ['finance'], also: ['u.18'] },
            cat: { groups: ['finance'] },
          },
        },
      },
    }),
  );
  const startAs = (userId: string | undefined, to: string): Promise<RunInTest> =>
    known.start([{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: 'end' }], {
      ...(userId !== undefined && { caller: { userId } }),
    });

  test.each<[string, string | undefined, string[], unknown[]]>([
    [
      'approve no call of their own',
      'Ann@Acme.com',
      ['ann', 'U.17', 'bob', 'cat'],
      ['self_approval', 'self_approval', '1/2', 'approved'],
    ],
    ['have one vote', undefined, ['bob', 'u.18', 'u.17'], ['1/2', 'already_settled', 'approved']],
    ['may deny what they approved', undefined, ['bob', '-u.18'], ['1/2', 'denied']],
  ])('%s', async (name, userId, words, expected) => {
    const run = await startAs(userId, name);
    const [request] = await run.open();
    expect(await answer(run, request!.requestId, words)).toEqual(expected);
    await run.result();
  });

  test('have one seat, and are shown under the id of the directory', async () => {
    const run = await startAs('u.17', 'seat');
    const [{ requestId } = { requestId: '' }] = await run.open();
    expect(await send(run, 'delegate', { requestId, to: 'eve', by: 'u.18' })).toMatchObject({ accepted: true });
    expect(await answer(run, requestId, ['bob', 'eve'])).toEqual(['not_entitled', '1/2']);
    const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
    expect(details).toMatchObject({ approvers: ['cat'], callerUserId: 'u.17' });
    expect(details.people).toEqual({
      ann: { name: 'Ann Lee', also: ['ann@acme.com', 'u.17'] },
      bob: { also: ['u.18'] },
    });
    expect(await answer(run, requestId, ['cat'])).toEqual(['approved']);
    await run.result();
  });

  test('are shown by name, with the id beside it', async () => {
    const run = await startAs(undefined, 'names');
    const { requestId } = (await run.open())[0]!;
    const { waitingFor = [] } = await run.status();
    expect(waitingFor).toMatchObject([{ reviewers: ['group:finance'] }]);
    const always = { kind: 'call' } as const;
    await send(run, 'decide', { requestId, approved: true, always, reviewerId: 'u.17', reviewerName: 'Somebody' });
    await send(run, 'decide', { requestId, approved: true, always, reviewerId: 'cat', reviewerName: 'Cat Stevens' });
    expect(await known.client.grants(run.workflowId)).toMatchObject([
      {
        by: [
          { reviewerId: 'u.17', reviewerName: 'Ann Lee' },
          { reviewerId: 'cat', reviewerName: 'Cat Stevens' },
        ],
      },
    ]);
    const late = { requestId, approved: false, reviewerId: 'bob' };
    const message = `request ${requestId} was already settled by Cat Stevens (cat): approved`;
    await expect(known.client.decide(late)).rejects.toMatchObject({ code: 'already_settled', message });
    await run.result();
  });

  test('the status of a run has the names of those for whom it waits', async () => {
    const policy = { rules: [{ pattern: 'look', action: 'ask', ask: { reviewers: ['u.17', 'cat'] } }] };
    const run = await known.start([{ calls: [{ tool: 'look', args: { what: 'names' } }] }, { text: 'end' }], {
      policy,
    });
    await run.open();
    expect((await run.status()).waitingFor).toMatchObject([
      { reviewers: ['u.17', 'cat'], people: { ann: { name: 'Ann Lee', also: ['ann@acme.com', 'u.17'] } } },
    ]);
    await run.handle.terminate();
  });

  test('are read from no policy of a run', async () => {
    const policy = { rules: [], directory: { people: { bob: { also: ['eve'] } } } };
    const start = known.start([{ text: 'end' }], { policy });
    await expect(start.then((run) => run.result())).rejects.toThrow();
  });
});
