import { beforeAll, describe, expect, test } from 'vitest';
import { createReviewerKey } from '../../../src/client/send/sign-message.ts';
import type { Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { Calls, RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * If a changing update can be refused without verifying a signature or running an activity, it is refused before it
 * enters history: it leaves no event, costs no accepted update, and is not counted (I4).
 */

const world = forAllTests(() => openWorld({ policy: { version: 1, rules: [], approval: { max_timeout: '1h' } } }));

const policyOf = (seconds: number): JsonObject => ({
  rules: [
    { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob'] } },
    { pattern: 'look', action: 'ask', ask: { timeout: `${seconds}s` } },
    { pattern: 'echo', action: 'ask' },
  ],
});
const update = (run: RunInTest, name: string, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });

/** How many updates entered the run's history, and how many tasks failed. */
async function inHistory(run: RunInTest): Promise<{ updates: number; failures: number }> {
  const { executions } = await world.client.historyChain(run.workflowId);
  const events = executions.flatMap(({ events }) => events);
  return {
    updates: events.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null).length,
    failures: events.filter((event) => event.workflowTaskFailedEventAttributes != null).length,
  };
}

const in5Minutes = (): string => new Date(Date.now() + 300_000).toISOString();
const in2Hours = (): string => new Date(Date.now() + 7_200_000).toISOString();

describe('refused, and not in history', () => {
  let run: RunInTest;
  let ids: { open: string; settled: string; expired: string; unknown: string };
  let before: { updates: number; failures: number };
  beforeAll(async () => {
    const calls: Calls = [
      { tool: 'pay', args: { to: 'controls', amount: 1 } },
      { tool: 'echo', args: {} },
      { tool: 'look', args: { what: 'controls' } },
    ];
    const { played } = await inTime(8, async (seconds) => {
      const started = await world.start([{ calls }, { text: 'done' }], { policy: policyOf(seconds) });
      // All three, unless one has expired.
      const asked = await started.open();
      const of = (tool: string): string => asked.find(({ toolName }) => toolName === tool)!.requestId;
      return { run: started, open: of('pay'), settled: of('echo'), expired: of('look') };
    });
    ids = { open: played.open, settled: played.settled, expired: played.expired, unknown: '0'.repeat(32) };
    run = played.run;
    await update(run, 'decide', { requestId: ids.settled, approved: false });
    await update(run, 'extend', { requestId: ids.open, until: in5Minutes(), by: 'ann', messageId: 'known' });
    await eventually('one expires', async () => (await run.status()).counts.open === 1);
    before = await inHistory(run);
  });

  test.each<[string, string, () => object, string]>([
    ['extend', 'what there is not', () => ({ requestId: ids.unknown, until: in5Minutes() }), 'unknown_request'],
    ['extend', 'what is settled', () => ({ requestId: ids.settled, until: in5Minutes() }), 'already_settled'],
    ['extend', 'what has expired', () => ({ requestId: ids.expired, until: in5Minutes() }), 'expired'],
    [
      'extend',
      'by one who is not asked',
      () => ({ requestId: ids.open, until: in2Hours(), by: 'cem' }),
      'not_entitled',
    ],
    ['extend', 'by nobody', () => ({ requestId: ids.open, until: in2Hours() }), 'not_entitled'],
    [
      'extend',
      'to an earlier end',
      () => ({ requestId: ids.open, until: '2020-01-01T00:00:00Z', by: 'ann' }),
      'invalid_message',
    ],
    [
      'extend',
      'past the longest wait',
      () => ({ requestId: ids.open, until: in2Hours(), by: 'ann' }),
      'not_permitted_by_ceiling',
    ],
    [
      'extend',
      'under a key that nobody has',
      () => {
        const signature = { keyId: 'none', signedAt: '2030-01-01T00:00:00Z', value: `${'A'.repeat(86)}==` };
        return { requestId: ids.open, until: in5Minutes(), by: 'ann', signature };
      },
      'unverified_reviewer',
    ],
    [
      'extend',
      'under the id of another message',
      () => ({ requestId: ids.open, until: in5Minutes(), by: 'ann', messageId: 'known' }),
      'invalid_message',
    ],
    ['delegate', 'what has expired', () => ({ requestId: ids.expired, to: 'cem', by: 'ann' }), 'expired'],
    ['delegate', 'by one who is not asked', () => ({ requestId: ids.open, to: 'ann', by: 'cem' }), 'not_entitled'],
    ['delegate', 'to themselves', () => ({ requestId: ids.open, to: 'ann', by: 'ann' }), 'invalid_message'],
    ['revoke', 'what there is not', () => ({ grants: ['grant-7'] }), 'grant_unknown'],
    ['setPolicy', 'a mode that there is not', () => ({ mode: 'none' }), 'policy_invalid'],
    ['setPolicy', 'under the id of another message', () => ({ mode: 'plan', messageId: 'known' }), 'invalid_message'],
  ])('%s %s', async (name, _what, message, type) => {
    await expect(update(run, name, message())).rejects.toMatchObject({ cause: { type } });
    expect(await inHistory(run)).toEqual(before);
  });

  test('an accepted update is in history, its repetition is answered, and the run continues', async () => {
    const until = new Date(Date.now() + 1_200_000).toISOString();
    const message = { requestId: ids.open, until, by: 'bob', messageId: 'good' };
    const first = await update(run, 'extend', message);
    expect(await update(run, 'extend', message)).toEqual(first);
    expect(await update(run, 'revoke', { grants: 'all' })).toMatchObject({ accepted: true });
    expect(await inHistory(run)).toEqual({ updates: before.updates + 3, failures: 0 });
    expect((await run.status()).refused.total).toBe(0);
    await update(run, 'decide', { requestId: ids.open, approved: true, reviewerId: 'ann' });
    expect((await run.result()).status).toBe('completed');
  });
});

test('only operators loosen: an unsigned change is refused before history', async () => {
  const key = createReviewerKey();
  const guarded = await openWorld({
    policy: {
      version: 1,
      rules: [{ pattern: 'pay', action: 'ask' }],
      reviewer_keys: { desk: { public_key: key.publicKey, operator: true } },
    },
  });
  try {
    const calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to: 'operator', amount } }));
    const run = await guarded.start([{ calls }, { text: 'done' }]);
    const [first] = await run.open(2);
    const always = { kind: 'arguments', match: { amount: '1' } };
    await update(run, 'decide', { requestId: first!.requestId, approved: false, always });
    for (const [name, message] of [
      ['setPolicy', { mode: 'bypassPermissions' }],
      ['revoke', { grants: 'all' }],
      ['revoke', { grants: ['grant-1'] }],
      // Reviewers' denials of a tool.
      ['revoke', { grants: ['denied-pay'] }],
    ] as const) {
      await expect(update(run, name, message)).rejects.toMatchObject({ cause: { type: 'not_permitted_by_ceiling' } });
    }
    const { events } = await run.handle.fetchHistory();
    const accepted = (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null);
    expect(accepted).toHaveLength(1);
    await run.handle.terminate();
  } finally {
    await guarded.close();
  }
});
