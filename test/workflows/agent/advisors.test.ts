import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdvisedCall, Advisor, AdvisorAnswer } from '../../../src/agents/advisor.ts';
import { agentTool } from '../../../src/agents/agent-tool.ts';
import { cardOf } from '../../../src/card/card-of.ts';
import { evidenceOf } from '../../../src/client/audit/evidence-of.ts';
import { verifyEvidence } from '../../../src/audit/verify-evidence.ts';
import { activityNames, type ApprovalDetails, type JournalEntry, type Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { completeByHand } from './complete-by-hand.ts';
import { eventually, holds } from '../../support/eventually.ts';
import { readExecutions } from '../../support/read-histories.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openWorld, type RunInTest, type Turns, type World } from '../../support/world.ts';

/** Advisors on real runs: a call that rules ask about is held until they have answered. */

const advised: AdvisedCall[] = [];
/** What they wait for that were told to stop. */
const aborted: string[] = [];
let world: World;

/** Answers what the arguments of the call say; with `hold`, once the test has written a file of that name. */
const parrot: Advisor = async (call, { signal }) => {
  advised.push(call);
  const { hold, fail, answer } = call.args as { hold?: string; fail?: string; answer?: AdvisorAnswer };
  signal.addEventListener('abort', () => aborted.push(hold ?? ''));
  if (hold !== undefined) await holds(() => existsSync(join(world.folder, hold)), signal);
  if (fail === 'throw') throw new TypeError('secret of the advisor');
  if (fail === 'hang') await new Promise(() => {});
  return answer;
};

beforeAll(async () => {
  world = await openWorld({
    advisors: { parrot },
    continueAsNewAfter: { historyEvents: 60 },
    agentsIn: (folder) => {
      const tester = testAgent(folder);
      // It may approve here, but the rule above it asks without that word.
      const helper = { ...tester, name: 'helper', policy: asks(mayApprove) };
      return [
        tester,
        helper,
        { ...tester, name: 'boss', tools: [...tester.tools, agentTool(helper, { name: 'ask_helper' })] },
      ];
    },
  });
});
afterAll(() => world.close());

const echo = (args: object) => ({ tool: 'echo', args: args as JsonObject });
const turns = (...calls: { tool: string; args: JsonObject }[]): Turns => [{ calls }, { text: 'done' }];
const asks = (advisor: object | false = { name: 'parrot' }, more: object = {}): JsonObject => ({
  rules: [{ id: 'r', pattern: '*', action: 'ask', ask: { advisor, ...more } as JsonObject }],
});
const mayApprove = { name: 'parrot', may_approve: true };
const send = (run: RunInTest, name: string, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [object]>(name, { args: [message] });
const release = (name: string): void => writeFileSync(join(world.folder, name), '');
const detailsOf = (run: RunInTest, requestId: string): Promise<ApprovalDetails> =>
  run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
const consulted = (hold: string): Promise<unknown> =>
  eventually(`the advisor has ${hold}`, () => advised.some(({ args }) => args['hold'] === hold));

/** The journal of a run and its consultations, and every ruling made again. */
async function recordOf(run: RunInTest) {
  const { executions } = await world.client.historyChain(run.workflowId);
  const read = readExecutions(executions);
  const { entries, evidence } = evidenceOf(read);
  const { differing, notReRuled } = verifyEvidence(JSON.parse(JSON.stringify(entries)) as JournalEntry[], evidence);
  const scheduled = executions.flatMap(({ events }) =>
    events.filter(
      ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'countersign.consultAdvisors',
    ),
  );
  return { entries, again: { differing, notReRuled }, consultations: scheduled.length, executions: executions.length };
}
const agrees = { differing: [], notReRuled: [] };

test.each([
  ['deny', { answer: 'deny', reason: 'It looks like fraud.' }, {}, 'denied_by_policy'],
  ['approve where the rule says so', { answer: 'approve', reason: 'Small.' }, mayApprove, 'allowed'],
] as const)('an advisor may %s', async (_, answer, settings, outcome) => {
  const run = await world.start(turns(echo({ answer })), { policy: asks({ name: 'parrot', ...settings }) });
  const result = await run.result();
  expect(result.outcomes).toMatchObject([{ outcome, ran: outcome === 'allowed' ? 'yes' : 'no' }]);
  const { entries, again } = await recordOf(run);
  const reason = `Advisor parrot ${answer.answer === 'deny' ? 'denies' : 'approves'} this call: ${answer.reason}`;
  const advice = [{ advisor: 'parrot', ...answer }];
  expect(entries[0]).toMatchObject({ outcome, layer: 'advisor', rule: 'parrot', reason, advice });
  expect(again).toEqual(agrees);
  if (answer.answer !== 'deny') return;
  const transcript = await run.handle.query<{ role: string; content: string }[]>('transcript');
  expect(transcript.find(({ role }) => role === 'tool')?.content).toBe(`Denied: ${reason}`);
});

const approves = { answer: 'approve' } as const;
const destroys: JsonObject = { risk_defaults: { destructive: 'ask' }, rules: [], advisor: mayApprove };
describe('no advisor approves, and reviewers are asked', () => {
  test.each([
    ['where the rule does not say so', echo({ answer: approves }), asks(), 'approves this call'],
    ['what destroys', { tool: 'wipe', args: {} }, destroys, 'asks about'],
    ['what cannot be undone', { tool: 'pay', args: { to: 'x', amount: 1 } }, asks(mayApprove), 'asks about'],
    [
      'by the policy for reviewers whom a rule names',
      echo({ answer: approves }),
      {
        advisor: mayApprove,
        rules: [{ pattern: '*', action: 'ask', ask: { reviewers: ['ann'] } }],
      },
      'approves this call',
    ],
    ['by throwing', echo({ fail: 'throw' }), asks(mayApprove), 'gave no answer: it failed: TypeError'],
    [
      'by taking too long',
      echo({ fail: 'hang' }),
      asks({ ...mayApprove, timeout: '1s' }),
      'gave no answer: it took longer than 1000 ms',
    ],
    [
      'by an answer of another form',
      echo({ answer: { ...approves, always: true } }),
      asks(mayApprove),
      'gave no answer: expected only answer, severity, reason',
    ],
  ])('%s', async (_, call, policy, sentence) => {
    const run = await world.start(turns(call), { policy });
    const [request] = await run.open();
    const { why, warnings } = cardOf(await detailsOf(run, request!.requestId));
    const row = why.find(({ label }) => label.startsWith('From advisors'));
    expect(row?.texts[0]?.text).toContain(sentence);
    expect(JSON.stringify([row, warnings])).not.toContain('secret of the advisor');
    await send(run, 'decide', { requestId: request!.requestId, approved: false, reviewerId: 'ann' });
    expect((await run.result()).outcomes).toMatchObject([{ outcome: 'denied', ran: 'no' }]);
    expect((await recordOf(run)).again).toEqual(agrees);
  });
});

test('an advisor that the worker does not have leaves the call to reviewers', async () => {
  const run = await world.start(turns(echo({})), { policy: asks({ name: 'nobody', may_approve: true }) });
  const [request] = await run.open();
  expect(request!.advice).toEqual([{ advisor: 'nobody', answer: 'ask', failure: 'this worker has no such advisor' }]);
  await run.handle.terminate();
});

test('an advisor raises the severity, and rules on it count; the strictest of both rulings decides', async () => {
  const answer = { answer: 'ask', severity: 'critical', reason: 'Look at "to".' };
  const rules: JsonObject[] = [
    { id: 'many', pattern: '*', action: 'ask', ask: { quorum: 2, advisor: { name: 'parrot' } } },
    // Whoever makes an advisor raise a severity must not get around the rule above.
    { id: 'bad', pattern: '*', when: 'severity == "critical"', action: 'ask', ask: { reviewers: ['ann'] } },
    { id: 'worst', pattern: '*', when: 'severity == "critical" && has(args.never)', action: 'deny', reason: 'Never' },
    { id: 'loose', pattern: '*', when: 'severity == "critical" && has(args.loose)', action: 'allow' },
  ];
  const run = await world.start(turns(echo({ answer }), echo({ answer, never: 1 }), echo({ answer, loose: 1 })), {
    policy: { rules },
  });
  // Whichever answer came first.
  const open = (await run.open(2)).toSorted((one) => ('loose' in one.arguments ? 1 : -1));
  const [bad, loose] = open;
  expect(bad).toMatchObject({ rule: 'bad', reviewers: ['ann'], assessment: { severity: 'critical' } });
  expect(bad!.assessment.reasons).toContain('advisor parrot says critical');
  expect(loose).toMatchObject({ rule: 'many', assessment: { severity: 'critical' } });
  const needs = await Promise.all(open.map(({ requestId }) => detailsOf(run, requestId)));
  expect(needs.map(({ approvals }) => approvals?.need)).toEqual([3, 2]);
  // A change of the policies rules again, with the raised severity.
  await send(run, 'setPolicy', {
    policy: { rules: [...rules.slice(0, 2), { ...rules[2], when: 'severity == "critical"' }] },
  });
  const result = await run.result();
  expect(result.outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
    'denied_by_policy',
    'superseded',
    'superseded',
  ]);
  expect((await recordOf(run)).again).toEqual(agrees);
});

test('only calls that rules ask about are sent to an advisor, each once, and side by side', async () => {
  const before = advised.length;
  const policy = {
    advisor: { name: 'parrot' },
    rules: [
      { pattern: 'look', action: 'allow' },
      { pattern: 'wipe', action: 'deny' },
      { pattern: 'pay', action: 'ask', ask: { advisor: false } },
    ],
  } as JsonObject;
  const run = await world.start(
    turns(
      { tool: 'look', args: { what: 'x' } },
      { tool: 'wipe', args: {} },
      { tool: 'pay', args: { to: 'x', amount: 1 } },
      echo({ n: 1, hold: 'side' }),
      echo({ n: 2, hold: 'side' }),
    ),
    { policy, caller: { userId: 'olga' } },
  );
  await eventually('both calls are with the advisor', () => advised.length === before + 2);
  const inOrder = advised.slice(before).toSorted((one, other) => Number(one.args['n']) - Number(other.args['n']));
  expect(inOrder).toEqual(
    [1, 2].map((n) => ({
      tool: 'echo',
      args: { n, hold: 'side' },
      risk: 'write',
      severity: 'medium',
      agent: 'tester',
      caller: 'olga',
      rule: null,
      reason: 'Risk default for write',
      contextSummary: expect.stringContaining('calls'),
    })),
  );
  release('side');
  const open = await run.open(3);
  for (const { requestId } of open) await send(run, 'decide', { requestId, approved: true });
  expect((await run.result()).outcomes.filter(({ ran }) => ran === 'yes')).toHaveLength(4);
  expect(await recordOf(run)).toMatchObject({ consultations: 2, again: agrees });
});

describe('while an advisor is consulted', () => {
  const held = async (hold: string, input: object = {}): Promise<RunInTest> => {
    const run = await world.start(turns(echo({ hold, answer: approves })), { policy: asks(mayApprove), ...input });
    await consulted(hold);
    expect((await run.status()).status).toBe('running');
    return run;
  };

  test('a close cancels the call, and nobody waits for the advisor', async () => {
    const run = await held('close');
    await run.handle.signal('close', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ status: 'closed', outcomes: [{ outcome: 'cancelled', ran: 'no' }] });
    expect((await recordOf(run)).again).toEqual(agrees);
  });

  test('a cancelled run ends', async () => {
    const run = await held('cancel');
    await run.handle.cancel();
    expect((await run.result()).status).toBe('cancelled');
    await eventually('the advisor is told', () => aborted.includes('cancel'));
  });

  test('a stop of the user cancels the call', async () => {
    const run = await held('stop', { session: true });
    await send(run, 'message', { stop: true });
    await run.awaitsUser();
    const transcript = await run.handle.query<{ role: string; content: string }[]>('transcript');
    expect(transcript.find(({ role }) => role === 'tool')?.content).toBe('Cancelled: the user stopped this turn');
    await run.handle.terminate();
  });

  test.each([
    ['denies', { rules: [{ id: 'no', pattern: '*', action: 'deny' }] }, 'denied_by_policy'],
    ['allows', { rules: [{ id: 'yes', pattern: '*', action: 'allow' }] }, 'allowed'],
  ])('a changed policy that %s counts, and the answer does not', async (name, policy, outcome) => {
    const run = await held(name);
    await send(run, 'setPolicy', { policy });
    release(name);
    const result = await run.result();
    expect(result.outcomes).toMatchObject([{ outcome }]);
    const { entries, again } = await recordOf(run);
    expect(entries.find(({ kind }) => kind === 'ruling')).not.toMatchObject({ layer: 'advisor' });
    expect(again).toEqual(agrees);
  });

  test('a changed policy without may_approve leaves the call to reviewers', async () => {
    const run = await held('asks');
    await send(run, 'setPolicy', { policy: asks() });
    release('asks');
    const [request] = await run.open();
    expect(request!.advice).toEqual([{ advisor: 'parrot', answer: 'approve' }]);
    await run.handle.terminate();
  });

  const byHand = { advisor: 'parrot', answer: 'approve' };
  test.each<[name: string, completion: unknown, policy?: JsonObject]>([
    ['nothing', undefined],
    ['a word', 'approve'],
    ['one answer that is in no list', byHand],
    ['an answer for another advisor', [{ ...byHand, advisor: 'other' }]],
    ['an answer with a member more', [{ ...byHand, always: true }]],
    ['an approval where the policy does not say so', [byHand], asks()],
  ])(
    'an operator who completes the activity with %s leaves the call to reviewers',
    async (name, completion, policy) => {
      const run = await held(name, policy && { policy });
      await completeByHand(world, run, activityNames.consultAdvisors, completion);
      const [request] = await run.open();
      expect(request).toMatchObject({ toolName: 'echo', advice: [{ advisor: 'parrot' }] });
      await send(run, 'decide', { requestId: request!.requestId, approved: false, reviewerId: 'ann' });
      expect((await run.result()).outcomes).toMatchObject([{ outcome: 'denied', ran: 'no' }]);
      expect((await recordOf(run)).again).toEqual(agrees);
    },
  );

  test('an operator who completes it with an answer of the form answers for the advisor', async () => {
    const run = await held('by hand');
    await completeByHand(world, run, activityNames.consultAdvisors, [{ ...byHand, reason: 'By hand.' }]);
    expect((await run.result()).outcomes).toMatchObject([{ outcome: 'allowed', ran: 'yes' }]);
    const { entries, again } = await recordOf(run);
    expect(entries[0]).toMatchObject({ layer: 'advisor', advice: [{ ...byHand, reason: 'By hand.' }] });
    expect(again).toEqual(agrees);
  });

  test('the run does not continue as new, and a call that waits for its turn is carried', async () => {
    const policy = { ...asks(), approval: { max_pending: 2 } };
    const calls = [echo({ hold: 'first' }), echo({ hold: 'second' }), echo({ hold: 'third' })];
    const run = await world.start(turns(...calls), { policy });
    await Promise.all([consulted('first'), consulted('second')]);
    for (let sent = 0; sent < 12; sent++) await send(run, 'setPolicy', { mode: 'default' });
    release('first');
    const [request] = await run.open();
    await send(run, 'decide', { requestId: request!.requestId, approved: true });
    expect(advised.some(({ args }) => args['hold'] === 'third')).toBe(false);
    expect(await recordOf(run)).toMatchObject({ executions: 1, consultations: 2 });
    release('second');
    await consulted('third');
    release('third');
    for (const { requestId } of await run.open(2)) await send(run, 'decide', { requestId, approved: true });
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual(calls.map(() => ['approved', 'yes']));
    expect(await recordOf(run)).toMatchObject({ executions: 2, consultations: 3, again: agrees });
  });

  test('with batch sequential, the next call is held until the first is answered', async () => {
    const policy = { ...asks(mayApprove), approval: { batch: 'sequential' } };
    const calls = [echo({ hold: 'one', answer: approves }), echo({ hold: 'two', answer: approves })];
    const run = await world.start(turns(...calls), { policy });
    await consulted('one');
    release('one');
    await consulted('two');
    release('two');
    expect((await run.result()).outcomes.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed']);
  });
});

test('a nested run consults the advisor of the policies above it, and nothing below approves for these', async () => {
  const rules = (advisor: object) => [{ pattern: 'echo', action: 'ask', ask: { advisor } }];
  const policy = {
    rules: [{ pattern: 'ask_helper', action: 'allow' }, ...rules({ name: 'parrot' })],
  } as JsonObject;
  const helper = [{ calls: [echo({ answer: { ...approves, reason: 'Fine.' } })] }, { text: 'done' }];
  const calls = [{ tool: 'ask_helper', args: { input: JSON.stringify(helper) } }];
  const run = await world.start([{ calls }, { text: 'done' }], { agent: 'boss', policy });
  const nested = await eventually('the nested run', async () => (await run.status()).nested?.[0]?.workflowId);
  const [request] = await eventually('it asks', () =>
    world
      .run(nested)
      .open()
      .catch(() => undefined),
  );
  expect(request!.advice).toEqual([{ advisor: 'parrot', answer: 'approve', reason: 'Fine.' }]);
  await run.handle.terminate();
});

test('what the advisor wrote is hidden where arguments are, but the model may read why it was denied', async () => {
  const policy = { ...asks(), approval: { include_arguments: false } };
  const secret = { reason: 'because of marker-1', severity: 'high' };
  const run = await world.start(
    turns(echo({ answer: { answer: 'ask', ...secret } }), echo({ answer: { answer: 'deny', ...secret } })),
    { policy },
  );
  const [request] = await run.open();
  expect(request!.advice).toEqual([{ advisor: 'parrot', answer: 'ask', severity: 'high' }]);
  const transcript = await run.handle.query<{ role: string; content: string }[]>('transcript');
  expect(JSON.stringify(transcript)).toContain('marker-1');
  await send(run, 'decide', { requestId: request!.requestId, approved: false });
  await run.result();
  const { entries, again } = await recordOf(run);
  expect(JSON.stringify([entries, await detailsOf(run, request!.requestId)])).not.toContain('marker-1');
  expect(again).toEqual(agrees);
});

test('an edit keeps the raised severity, and is not sent to the advisor', async () => {
  const answer = { answer: 'approve', severity: 'critical' };
  const ask = { advisor: { name: 'parrot' }, quorum: 1 };
  const policy = {
    rules: [
      { pattern: '*', action: 'ask', ask },
      { id: 'two', pattern: '*', when: 'severity == "critical"', action: 'ask', ask: { quorum: 2 } },
    ],
  };
  const run = await world.start(turns(echo({ answer })), { policy: policy as JsonObject });
  const [request] = await run.open();
  const edit = { requestId: request!.requestId, approved: true, modifiedArguments: { answer, edited: 1 } };
  const { successor } = await send(run, 'decide', { ...edit, reviewerId: 'ann' });
  const edited = await detailsOf(run, successor!);
  expect(edited).toMatchObject({ approvals: { have: 1, need: 2 }, assessment: { severity: 'critical' } });
  expect(edited.advice).toBeUndefined();
  await run.handle.terminate();
  expect(await recordOf(run)).toMatchObject({ consultations: 1, again: agrees });
});
