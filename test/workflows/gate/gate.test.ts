import { describe, expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { Calls, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

const world = forAllTests(() => openWorld());

const pay = { tool: 'pay', args: { to: 'ann', amount: 5 } };
const oneCall = (call: Calls[number]): Turns => [{ calls: [call] }, { text: 'told: {{lastResult}}' }];

describe('one call, each way through the gate', () => {
  test('allow: the tool runs, and nobody is asked', async () => {
    const run = await world.start(oneCall({ tool: 'look', args: { what: 'sea' } }));
    const result = await run.result();
    expect(result).toMatchObject({ status: 'completed', output: 'told: saw sea' });
    expect(result.outcomes).toEqual([{ callId: '1.1', toolName: 'look', outcome: 'allowed', ran: 'yes' }]);
  });

  test('ask, then approve by signal: it runs once, as approved', async () => {
    const run = await world.start(oneCall(pay));
    const [request] = await run.open();
    expect(request).toMatchObject({
      toolName: 'pay',
      arguments: pay.args,
      riskLevel: 'write',
      agentName: 'tester',
      rule: null,
    });
    expect(world.ran()).not.toContain('pay ann 5');
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    expect(await run.result()).toMatchObject({ output: 'told: paid 5 to ann' });
    expect(world.ran().filter((line) => line === 'pay ann 5')).toHaveLength(1);
  });

  test('ask, then deny: the reason reaches the model and the tool does not run', async () => {
    const run = await world.start(oneCall({ tool: 'pay', args: { to: 'bob', amount: 1 } }));
    const [request] = await run.open();
    const receipt = await world.client.decide({
      requestId: request!.requestId,
      approved: false,
      reason: 'not this month',
    });
    expect(receipt).toMatchObject({ accepted: true, outcome: 'denied' });
    expect(await run.result()).toMatchObject({ output: 'told: Denied: not this month' });
    expect(world.ran()).not.toContain('pay bob 1');
  });

  test('ask, then no answer: denied at the deadline, and the model is told so', async () => {
    const run = await world.start(oneCall(pay), { policy: { version: 1, approval: { timeout: '1s' } } });
    const result = await run.result();
    expect(result.output).toBe('told: Denied: no decision within 1s');
    expect(result.outcomes).toMatchObject([{ outcome: 'expired', ran: 'no' }]);
  });

  test('deny by policy: nobody is asked', async () => {
    const run = await world.start(oneCall({ tool: 'wipe', args: {} }));
    const result = await run.result();
    expect(result.output).toBe(`told: Denied: Policy denies 'wipe'`);
    expect(result.outcomes).toMatchObject([{ outcome: 'denied_by_policy', ran: 'no' }]);
    expect(world.ran()).not.toContain('wipe');
  });

  test.each([
    ['an unknown tool', { tool: 'fly', args: {} }, `Error: tool 'fly' not found`],
    ['arguments that are not JSON', { tool: 'pay', rawArguments: '{"to":' }, /^told: Error: /],
    ['arguments of the wrong type', { tool: 'pay', args: { to: 1, amount: 'x' } }, /^told: Error: /],
  ])('%s is answered, and the run continues', async (_name, call, told) => {
    const result = await (await world.start(oneCall(call))).result();
    expect(result.output).toMatch(told);
    expect(result.outcomes).toMatchObject([{ outcome: 'refused', ran: 'no' }]);
  });

  test('a tool that throws: the model is told, and the run continues', async () => {
    const run = await world.start(oneCall({ tool: 'fail', args: {} }), {
      policy: { version: 1, rules: [{ pattern: 'fail', action: 'allow' }] },
    });
    const result = await run.result();
    expect(result.output).toBe('told: Error: the bank is closed');
    expect(world.ran().filter((line) => line === 'fail')).toHaveLength(1);
  });
});

describe('decisions that change nothing (I4)', () => {
  const bad: [string, (requestId: string) => unknown[], string][] = [
    ['unknown id', () => [{ requestId: '0'.repeat(32), approved: true }], 'unknown_request'],
    ['no approved', (requestId) => [{ requestId }], 'invalid_decision'],
    ['approved as text', (requestId) => [{ requestId, approved: 'true' }], 'invalid_decision'],
    ['a bare boolean', () => [true], 'invalid_decision'],
    ['null', () => [null], 'invalid_decision'],
    ['no payload', () => [], 'invalid_decision'],
    ['an empty list', () => [[]], 'invalid_decision'],
    ['an id that is no text', () => [{ requestId: 7, approved: true }], 'invalid_decision'],
    [
      'edited to what is no object',
      (requestId) => [{ requestId, approved: true, modifiedArguments: [1] }],
      'invalid_decision',
    ],
    ['an unknown field', (requestId) => [{ requestId, approved: true, approver: 'me' }], 'invalid_decision'],
    ['another digest', (requestId) => [{ requestId, approved: true, digest: '0'.repeat(64) }], 'digest_mismatch'],
    ['a reason too long', (requestId) => [{ requestId, approved: true, reason: 'x'.repeat(2_001) }], 'too_large'],
  ];

  test('by signal: recorded with code and size, and a later valid decision works', async () => {
    const run = await world.start(oneCall({ tool: 'pay', args: { to: 'cat', amount: 2 } }));
    const [request] = await run.open();
    for (const [, payload] of bad) await run.handle.signal('decide', ...payload(request!.requestId));
    await run.handle.signal('aprove', { requestId: request!.requestId, approved: true });
    const { refused, counts } = await run.status();
    expect(refused.last.map(({ code }) => code)).toEqual([...bad.map(([, , code]) => code), 'invalid_message']);
    expect(counts).toMatchObject({ open: 1, refused: bad.length + 1 });
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true, digest: request!.digest });
    expect(await run.result()).toMatchObject({ output: 'told: paid 2 to cat' });
  });

  test.each(bad)('by update: %s is refused with its code', async (_name, payload, code) => {
    const run = await world.start(oneCall(pay));
    const [request] = await run.open();
    const before = (await run.handle.describe()).historyLength;
    const update = run.handle.executeUpdate('decide', { args: payload(request!.requestId) as [unknown] });
    await expect(update).rejects.toMatchObject({ cause: { type: code } });
    expect((await run.handle.describe()).historyLength).toBe(before);
    await run.handle.terminate();
  });

  test('by update, a list in which no decision counts: refused before it enters history, with every receipt', async () => {
    const calls = ['ann', 'bob'].map((to) => ({ tool: 'pay', args: { to, amount: 1 } }));
    const run = await world.start([{ calls }, { text: 'done' }]);
    const [first, second] = await run.open(2);
    const update = (...decisions: unknown[]) => run.handle.executeUpdate('decide', { args: [decisions] });
    const vote = { requestId: first!.requestId, approved: true, decisionId: 'd-1' };
    const unknown = { requestId: '0'.repeat(32), approved: true };
    const other = { ...unknown, requestId: first!.requestId, digest: '0'.repeat(64) };
    const before = (await run.handle.describe()).historyLength;
    await expect(update(unknown, { approved: true }, other)).rejects.toMatchObject({
      cause: {
        type: 'unknown_request',
        message: expect.stringMatching(/^none of the 3 counts; the first: /),
        details: [{ code: 'unknown_request' }, { code: 'invalid_decision' }, { code: 'digest_mismatch' }],
      },
    });
    await expect(update(unknown)).rejects.toMatchObject({ cause: { message: expect.not.stringContaining('none of') } });
    expect((await run.handle.describe()).historyLength).toBe(before);
    expect(await update(unknown, vote)).toMatchObject([{ code: 'unknown_request' }, { outcome: 'approved' }]);
    // A retry counts, because it gets the first receipt again.
    expect(await update(unknown, vote)).toMatchObject([{ code: 'unknown_request' }, { outcome: 'approved' }]);
    await run.handle.signal('decide', { requestId: second!.requestId, approved: false });
    await run.result();
  });

  test('a second decision is told who was first; a retry of the first gets its receipt again (I3)', async () => {
    const run = await world.start([
      {
        calls: [
          { tool: 'pay', args: { to: 'dan', amount: 3 } },
          { tool: 'pay', args: { to: 'eve', amount: 4 } },
        ],
      },
      { text: 'done' },
    ]);
    const [first, second] = await run.open(2);
    const decision = { requestId: first!.requestId, approved: false, reviewerId: 'ann', decisionId: 'd-1' };
    const receipt = await run.handle.executeUpdate('decide', { args: [decision] });
    expect(receipt).toMatchObject({ accepted: true, outcome: 'denied' });
    expect(await run.handle.executeUpdate('decide', { args: [decision] })).toEqual(receipt);
    await expect(
      run.handle.executeUpdate('decide', {
        args: [{ requestId: first!.requestId, approved: true, reviewerId: 'bob' }],
      }),
    ).rejects.toMatchObject({ cause: { type: 'already_settled', message: expect.stringContaining('ann') } });
    const receipts = await run.handle.executeUpdate('decide', {
      args: [
        [
          { requestId: first!.requestId, approved: true },
          { requestId: second!.requestId, approved: true },
        ],
      ],
    });
    expect(receipts).toMatchObject([
      { accepted: false, code: 'already_settled' },
      { accepted: true, outcome: 'approved' },
    ]);
    const { outcomes } = await run.result();
    expect(outcomes).toMatchObject([
      { outcome: 'denied', ran: 'no' },
      { outcome: 'approved', ran: 'yes' },
    ]);
  });
});
