import { describe, expect, test } from 'vitest';
import type { Decision, Receipt, RunResult } from '../../../src/contract.ts';
import { agentTool } from '../../../src/index.ts';
import { continueTool } from '../../../src/core/base/tool-call.ts';
import { exported, verified } from '../../audit/audit-file.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { costlyModel } from '../../support/costly-model.ts';
import { eventually } from '../../support/eventually.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openWorld, type RunInTest, type Turns } from '../../support/world.ts';

/** The limits of a run: it ends there, or waits on a request like any other until a person lets it go on. */

const world = forAllTests(() =>
  openWorld({
    // Nothing is asked about: what asks is the limit alone.
    policy: { version: 1, rules: [{ pattern: '*', action: 'allow' }], limits: { turns: 9 } },
    continueAsNewAfter: { historyEvents: 60 },
    agentsIn: (folder) => {
      const tester = testAgent(folder);
      const model = costlyModel('costly', { input: 100, cached: 0, output: 50 });
      const clerk = { ...tester, name: 'clerk', model };
      const boss = { ...tester, name: 'boss', model, tools: [...tester.tools, agentTool(clerk)] };
      return [{ ...tester, model }, clerk, boss];
    },
  }),
);

const look = (what: string) => ({ tool: 'look', args: { what } });
/** As many turns that look as `count`, and one that answers. */
const looks = (count: number): Turns => [
  ...Array.from({ length: count }, (_, index) => ({ text: `look ${index}`, calls: [look(`${index}`)] })),
  { text: 'done' },
];
const start = (turns: Turns, limits: object, more: object = {}, rules: object[] = []): Promise<RunInTest> =>
  world.start(turns, { policy: { version: 1, rules: [...rules] as never, limits: limits as never }, ...more });
const decide = (run: RunInTest, decision: Decision): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [Decision]>('decide', { args: [decision] });
const tell = (run: RunInTest, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [object]>('message', { args: [message] });
async function answer(run: RunInTest, more: Omit<Decision, 'requestId'>): Promise<string> {
  const [asked] = await run.open();
  await decide(run, { requestId: asked!.requestId, ...more });
  return asked!.requestId;
}
const summary = ({ status, output }: RunResult) => ({ status, output });

describe('at an amount that ends the run', () => {
  test.each<[string, object, Turns, object]>([
    ['turns', { turns: 2 }, looks(3), { status: 'limit', output: 'Stopped after 2 turns (limit: 2 turns)' }],
    [
      'tokens, once they are passed',
      { tokens: { end: 200 } },
      looks(3),
      { status: 'limit', output: 'Stopped after 300 tokens (limit: 200 tokens)' },
    ],
    [
      'calls, once one more is made',
      { calls: 1 },
      looks(3),
      { status: 'limit', output: 'Stopped after 2 tool calls (limit: 1 tool call)' },
    ],
    ['calls up to it', { calls: 3 }, looks(3), { status: 'completed', output: 'done' }],
    ['an answer at it', { turns: 4, tokens: 600 }, looks(3), { status: 'completed', output: 'done' }],
    [
      'one below an amount that asks',
      { tokens: { ask: 1_000, end: 150 } },
      looks(1),
      { status: 'limit', output: 'Stopped after 150 tokens (limit: 150 tokens)' },
    ],
    [
      'the ceiling’s, whatever the run says',
      { turns: 50 },
      looks(20),
      { status: 'limit', output: 'Stopped after 9 turns (limit: 9 turns)' },
    ],
  ])('%s', async (_, limits, turns, expected) => {
    const run = await start(turns, limits);
    expect(summary(await run.result())).toEqual(expected);
  });

  test('time', async () => {
    const run = await start(looks(3), { time: '1ms' });
    expect(summary(await run.result())).toEqual({
      status: 'limit',
      output: expect.stringMatching(/^Stopped after \d+s \(limit: 0\.001s\)$/),
    });
  });

  test('parallel calls beyond it do not run, in the order of the model', async () => {
    const calls = [look('p1'), look('p2'), look('p3'), look('p4')];
    const run = await start([{ text: 'all', calls }, { text: 'done' }], { calls: 2 });
    const { status, outcomes } = await run.result();
    expect(status).toBe('limit');
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual(
      [
        ['refused', 'no'],
        ['refused', 'no'],
        ['allowed', 'yes'],
        ['allowed', 'yes'],
      ].toReversed(),
    );
    expect(
      world
        .ran()
        .filter((line) => line.startsWith('look p'))
        .toSorted(),
    ).toEqual(['look p1', 'look p2']);
  });
});

describe('at an amount that asks', () => {
  test('a person lets the run go on for as much again, as often as it takes', async () => {
    const run = await start(looks(4), { turns: { ask: 2 } });
    const [asked] = await run.open();
    expect(asked).toMatchObject({
      toolName: continueTool,
      arguments: { limit: 'turns', more: '2 turns' },
      sentence: 'The run has reached a limit: 2 turns used. Approved, it goes on for 2 turns more; denied, it ends.',
      reason: 'The run has reached a limit',
      contextSummary: 'look 1',
      reviewers: [],
      shownArguments: { limit: 'turns', more: '2 turns' },
    });
    const first = await answer(run, { approved: true });
    const again = await eventually('the second request', async () => {
      const [next] = await run.open();
      return next!.requestId !== first && next;
    });
    expect(again.sentence).toContain('4 turns used');
    await answer(run, { approved: true });
    const result = await run.result();
    expect(summary(result)).toEqual({ status: 'completed', output: 'done' });
    expect(result.outcomes.filter(({ toolName }) => toolName === continueTool)).toEqual([
      expect.objectContaining({ callId: '2.continue-1', outcome: 'approved', ran: 'yes' }),
      expect.objectContaining({ callId: '4.continue-2', outcome: 'approved', ran: 'yes' }),
    ]);
  });

  test.each<[string, object, object[], Omit<Decision, 'requestId'> | undefined, string]>([
    ['a denial', { turns: { ask: 1 } }, [], { approved: false, reason: 'Enough' }, 'Denied: Enough'],
    [
      'an expiry',
      { turns: { ask: 1 } },
      [{ pattern: continueTool, action: 'ask', ask: { timeout: '1s', on_timeout: 'allow' } }],
      undefined,
      'Denied: no decision within 1s',
    ],
    [
      'a rule that denies',
      { turns: { ask: 1 } },
      [{ pattern: continueTool, action: 'deny', reason: 'Nobody may' }],
      undefined,
      'Denied: Nobody may',
    ],
  ])('%s ends it with the reason', async (_, limits, rules, decision, why) => {
    const run = await start(looks(3), limits, {}, rules);
    if (decision !== undefined) await answer(run, decision);
    expect(summary(await run.result())).toEqual({
      status: 'limit',
      output: `Stopped after 1 turn (limit: 1 turn). ${why}`,
    });
  });

  test('a rule names who may answer; nothing is granted for ever', async () => {
    const ask = { reviewers: ['ann'], always: 'tool' };
    const run = await start(looks(3), { turns: { ask: 2 } }, {}, [{ pattern: continueTool, action: 'ask', ask }]);
    const [asked] = await run.open();
    expect(asked!.reviewers).toEqual(['ann']);
    const { requestId } = asked!;
    await expect(decide(run, { requestId, approved: true, reviewerId: 'bob' })).rejects.toMatchObject({
      cause: { type: 'not_entitled' },
    });
    const receipt = await decide(run, { requestId, approved: true, reviewerId: 'ann', always: true });
    expect(receipt).toMatchObject({ accepted: true });
    expect(receipt.grantId).toBeUndefined();
    expect((await run.result()).status).toBe('completed');
  });

  test.each([
    ['a mode', { mode: 'bypassPermissions' }],
    ['a later rule for every tool', {}],
  ])('%s does not let it go on', async (_, more) => {
    const ask = { reviewers: ['ann'] };
    const rules = [
      { pattern: continueTool, action: 'ask', ask },
      { pattern: '*', action: 'allow' },
      { pattern: continueTool, action: 'allow' },
    ];
    const run = await start(looks(2), { turns: { ask: 1 } }, more, rules);
    const [asked] = await run.open();
    expect(asked!.toolName).toBe(continueTool);
    await run.handle.signal('close', { reason: 'over' });
    expect((await run.result()).status).toBe('closed');
  });

  test('nobody edits the amount', async () => {
    const run = await start(looks(2), { turns: { ask: 1 } });
    const [asked] = await run.open();
    const edit = {
      requestId: asked!.requestId,
      approved: true,
      modifiedArguments: { limit: 'turns', more: '9 turns' },
    };
    await expect(decide(run, edit)).rejects.toMatchObject({ cause: { type: 'arguments_invalid' } });
    await answer(run, { approved: false });
    expect((await run.result()).output).toBe('Stopped after 1 turn (limit: 1 turn). Denied: User denied');
  });

  test('a model cannot call it', async () => {
    const calls = [{ tool: continueTool, args: { limit: 'turns', more: '2 turns' } }];
    const run = await start([{ calls }, { text: 'done' }], {});
    const { status, outcomes } = await run.result();
    expect(status).toBe('completed');
    expect(outcomes).toMatchObject([{ toolName: continueTool, outcome: 'refused', ran: 'no' }]);
  });

  test('calls beyond it are made again by the model', async () => {
    const calls = [look('q1'), look('q2'), look('q3')];
    const run = await start([{ calls }, { calls: [look('q3')] }, { text: 'done' }], { calls: { ask: 2 } });
    await answer(run, { approved: true });
    expect((await run.result()).status).toBe('completed');
    expect(
      world
        .ran()
        .filter((line) => line.startsWith('look q'))
        .toSorted(),
    ).toEqual(['look q1', 'look q2', 'look q3']);
    const transcript = JSON.stringify(await run.handle.query('transcript'));
    expect(transcript).toContain('Make this call again if the run goes on.');
  });

  test('a worker that restarts, and continuing as new, lose neither the request nor the count', async () => {
    const run = await start(looks(8), { turns: { ask: 6 } });
    const [asked] = await run.open();
    await world.stopWorker();
    await world.startWorker();
    expect((await run.open())[0]!.requestId).toBe(asked!.requestId);
    // Each refused decision grows the history, until the waiting run continues as new.
    await eventually('another execution', async () => {
      await run.handle.signal('decide', { requestId: 'none', approved: true });
      return (await run.status()).executions > 1;
    });
    expect((await run.open())[0]).toMatchObject({ requestId: asked!.requestId, toolName: continueTool });
    await answer(run, { approved: true });
    expect(summary(await run.result())).toEqual({ status: 'completed', output: 'done' });
  });
});

test('a session is limited as a whole; a stop or a message of its user answers nothing', async () => {
  const turns: Turns = [{ text: 'one' }, { text: 'two' }, { text: 'three' }];
  const rules = [{ pattern: continueTool, action: 'ask', ask: { when_user_writes: 'withdraw' } }];
  const run = await start(turns, { turns: { ask: 1 } }, { session: true }, rules);
  await run.awaitsUser();
  await tell(run, { content: 'more' });
  const [first] = await run.open();
  await tell(run, { stop: true });
  await run.awaitsUser();
  await tell(run, { content: 'still there?' });
  const [second] = await run.open();
  expect(second!.requestId).not.toBe(first!.requestId);
  await tell(run, { content: 'hello?' });
  const third = await eventually('a new request', async () => {
    const [next] = await run.open();
    return next!.requestId !== second!.requestId && next;
  });
  await decide(run, { requestId: third.requestId, approved: false, reason: 'No more' });
  expect(summary(await run.result())).toEqual({
    status: 'limit',
    output: 'Stopped after 1 turn (limit: 1 turn). Denied: No more',
  });
});

describe('a nested run', () => {
  const nested = (turns: Turns): Turns => [
    { text: 'ask', calls: [{ tool: 'clerk', args: { input: JSON.stringify(turns) } }] },
    { text: 'all done' },
  ];

  test('has the limits of the run above for itself, and asks by itself', async () => {
    const run = await start(nested(looks(3)), { turns: { ask: 2 } }, { agent: 'boss' });
    const child = world.run(`${run.workflowId}/1.1`);
    const [asked] = await eventually('it asks', () => child.open().catch(() => undefined));
    expect(asked).toMatchObject({ toolName: continueTool, lineage: [run.workflowId] });
    await answer(child, { approved: false, reason: 'Too long' });
    const { output, status } = await run.result();
    expect({ status, output }).toEqual({ status: 'completed', output: 'all done' });
    expect(JSON.stringify(await run.handle.query('transcript'))).toContain('Stopped after 2 turns');
  });

  test('counts for the run above with its tokens, once it has ended', async () => {
    const run = await start(nested(looks(2)), { tokens: { end: 600 } }, { agent: 'boss' });
    const result = await run.result();
    expect(result).toMatchObject({
      status: 'limit',
      output: 'Stopped after 600 tokens (limit: 600 tokens)',
      usage: { inputTokens: 100, outputTokens: 50 },
      nestedUsage: { inputTokens: 300, outputTokens: 150 },
    });
    const { usage, nestedUsage } = result;
    const events = [];
    for await (const event of world.client.events(run.workflowId, { follow: false })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'RunCompleteEvent', usage, nestedUsage });
  });
});

test('its events and its audit are those of any request, and the audit rules again on it', async () => {
  const run = await start(looks(2), { turns: { ask: 1 }, tokens: { ask: 10_000 } });
  await answer(run, { approved: true, reviewerId: 'ann' });
  await eventually('the second request', async () => (await run.status()).counts.asks === 2);
  await answer(run, { approved: true, reviewerId: 'ann' });
  await run.result();
  const events = [];
  for await (const event of world.client.events(run.workflowId, { follow: false })) events.push(event);
  expect(events.filter(({ type }) => type.startsWith('Approval'))).toMatchObject([
    { type: 'ApprovalRequestEvent', toolName: continueTool, callId: '1.continue-1' },
    { type: 'ApprovalResultEvent', toolName: continueTool, decision: 'approved', reviewerId: 'ann' },
    { type: 'ApprovalRequestEvent', toolName: continueTool, callId: '2.continue-2' },
    { type: 'ApprovalResultEvent', toolName: continueTool, decision: 'approved', reviewerId: 'ann' },
  ]);
  expect(await verified(await exported(world.client.audit(run.workflowId)))).toMatchObject({
    findings: [],
  });
});
