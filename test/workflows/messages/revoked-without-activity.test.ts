/** Approvals that take effect without an activity, of which no second gate asks whether they still count. */
import { defaultPayloadConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { afterEach, describe, expect, test } from 'vitest';
import type { Decision } from '../../../src/contract.ts';
import { continueTool } from '../../../src/core/base/tool-call.ts';
import type { RunState } from '../../../src/workflows/agent/run-state.ts';
import { openGatedWorld, type GatedWorld } from '../../support/gated-world.ts';
import { callOf, last, once, team } from '../../support/team.ts';
import { openWorld, type RunInTest, type Turns, type World } from '../../support/world.ts';

const gone = `the approval of this call counts no more: 'ann' is revoked by the operator's policy, and counts no more`;
const byAnn = { approved: true, reviewerId: 'ann' };

let world: World | GatedWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** The states of the calls that a reviewer has answered, in what an execution hands to the next one. */
function carriedAnswers({
  workflowExecutionContinuedAsNewEventAttributes: continued,
}: temporal.api.history.v1.IHistoryEvent): string[] {
  const [, payload] = continued?.input?.payloads ?? [];
  if (payload === undefined) return [];
  const { state } = defaultPayloadConverter.fromPayload<{ state: RunState }>(payload);
  return state.calls.flatMap((call) => ('isResponse' in call ? [call.state] : []));
}

describe('in a run of an agent', () => {
  const askedOf = (pattern: string) => ({
    version: 1,
    rules: [{ pattern, action: 'ask', ask: { reviewers: ['ann', 'bob'] } }],
    directory: { people: { ann: {}, bob: {} } },
  });
  const toBilling = { calls: [{ tool: 'transfer_to_billing', args: { reason: 'It is about money' } }] };
  const nested = once(callOf('lax', { text: 'the answer of the nested run' }));
  const looks = [{ calls: [{ tool: 'look', args: { what: 'sea' } }] }, last];

  const cases: [string, string, Turns, Partial<Decision>, string, string][] = [
    ['a nested run', 'lax', nested, {}, 'the answer of the nested run', `Error: ${gone}`],
    [
      'a handoff',
      'transfer_to_billing',
      [toBilling, last] as Turns,
      {},
      `Agent 'billing' takes over.`,
      `Error: ${gone}`,
    ],
    [
      'an answer in the place of the tool',
      'look',
      looks,
      { approved: false, response: 'by hand' },
      'by hand',
      `Error: ${gone}`,
    ],
    // Those who still count are asked again.
    ['a limit', continueTool, looks, {}, 'saw sea', 'saw sea'],
  ];

  async function play([, pattern, turns, more]: (typeof cases)[number], revoked?: object) {
    const policy = askedOf(pattern);
    const opened = await openWorld({ agentsIn: (folder) => team(folder), policy });
    world = opened;
    const limits = pattern === continueTool ? { limits: { turns: { ask: 1 } } } : {};
    const run = await opened.start(turns, { policy: { version: 1, rules: [], ...limits } as never });
    const [request] = await run.open();
    await opened.stopWorker();
    await opened.startWorker({ policy: { ...policy, ...(revoked && { revoked }) } });
    const decision = { requestId: request!.requestId, ...byAnn, ...more };
    await opened.client.decide(decision, { workflowId: run.workflowId });
    return run;
  }

  /** Answers the second question about a limit in the name of a person who still counts. */
  async function answeredAgain(run: RunInTest): Promise<void> {
    const [request] = await run.open();
    const again = { requestId: request!.requestId, approved: true };
    await expect(world!.client.decide({ ...again, reviewerId: 'ann' }, { workflowId: run.workflowId })).rejects.toThrow(
      'counts no more',
    );
    await world!.client.decide({ ...again, reviewerId: 'bob' }, { workflowId: run.workflowId });
  }

  test.each(cases)('%s counts while its approver does', async (...given) => {
    expect((await (await play(given)).result()).output).toBe(given[4]);
  });

  test.each(cases)('%s does not count once its approver is revoked', async (...given) => {
    const run = await play(given, { people: ['Ann'] });
    if (given[1] === continueTool) await answeredAgain(run);
    const { output, outcomes } = await run.result();
    expect(output).toBe(given[5]);
    const [outcome] = outcomes.filter(({ toolName }) => toolName === given[1]);
    expect(outcome).toMatchObject({ outcome: given[3].response === undefined ? 'approved' : 'responded', ran: 'no' });
    // What is revoked is known from then on, also in a run that makes no further turn.
    await expect(run.status()).resolves.toMatchObject({ agent: 'tester' });
  });

  test('an answer that continue-as-new carries is checked, and nothing runs for it', async () => {
    const asked = { pattern: 'look', args: { what: 'sea' }, action: 'ask', ask: { reviewers: ['bob'] } };
    const policy = { version: 1, rules: [{ pattern: '*', action: 'allow' }, asked] };
    const continueAsNewAfter = { historyEvents: 20 };
    const opened = await openWorld({ agentsIn: (folder) => team(folder), policy, continueAsNewAfter });
    world = opened;
    const look = (what: string) => ({ tool: 'look', args: { what } });
    // In one of them the answer comes just when history is long enough.
    const carried = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (others) => {
        const beside = Array.from({ length: others }, (_, index) => look(`land ${index}`));
        const run = await opened.start([{ calls: [look('sea'), ...beside] }, { text: 'done' }]);
        const [request] = await run.open();
        const decision = { requestId: request!.requestId, reviewerId: 'bob', approved: false, response: 'by hand' };
        await opened.client.decide(decision, { workflowId: run.workflowId });
        await run.result();
        const { executions } = await opened.client.historyChain(run.workflowId);
        return executions.flatMap(({ events }) => events.flatMap(carriedAnswers));
      }),
    );
    expect(new Set(carried.flat())).toEqual(new Set(['asked']));
    expect(opened.ran().filter((line) => line.includes('sea'))).toEqual([]);
  });

  test('what a policy lets run asks nothing more', async () => {
    const opened = await openWorld({ agentsIn: (folder) => team(folder) });
    world = opened;
    const run = await opened.start(nested);
    await run.result();
    const { events = [] } = await run.handle.fetchHistory();
    const activities = events!.flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
    );
    expect(new Set(activities)).toEqual(new Set(['countersign.loadAgent', 'countersign.callModel']));
  });
});

describe('in a workflow of one’s own', () => {
  const policy = {
    version: 1,
    rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob'], always: 'tool' } }],
    directory: { people: { ann: {}, bob: {} } },
  };
  const revoked = { ...policy, revoked: { people: ['ann'] } };
  const pay = (to: string) => ({ name: 'pay', args: [to, 1] });

  async function asking(workflow: string, ...args: unknown[]) {
    const opened = await openGatedWorld({ policy });
    world = opened;
    const handle = await opened.start(workflow, ...args);
    const answer = async (more: Partial<Decision>): Promise<void> => {
      const [request] = await opened.open(handle);
      const decision = { requestId: request!.requestId, approved: true, ...more };
      await opened.client.decide(decision, { workflowId: handle.workflowId });
    };
    const revoke = async (): Promise<void> => {
      await opened.open(handle);
      await opened.stopWorker();
      await opened.startWorker({ policy: revoked });
    };
    return { handle, answer, revoke, opened };
  }

  test('an answer in the place of an activity does not count', async () => {
    const { handle, answer, revoke, opened } = await asking('calls', [pay('a')]);
    await revoke();
    await answer({ reviewerId: 'ann', approved: false, response: 'by hand' });
    expect(await handle.result()).toMatchObject([{ type: 'refused', message: `Error: ${gone}` }]);
    const { entries } = await opened.client.journal(handle.workflowId);
    expect(entries.at(-1)).toMatchObject({ kind: 'ran', ran: 'no', reason: gone });
  });

  test('a standing approval answers no call: the next one asks a person who counts', async () => {
    const { handle, answer, revoke, opened } = await asking('inTurn', [
      pay('a'),
      { name: 'shell', args: ['ls'] },
      pay('b'),
      pay('c'),
    ]);
    await answer({ reviewerId: 'ann', always: { kind: 'tool' } });
    await revoke();
    await answer({ reviewerId: 'bob' });
    await answer({ reviewerId: 'bob' });
    const [first, , refused, last] = (await handle.result()) as unknown[];
    expect([first, last]).toEqual([{ result: 'paid 1 to a' }, { result: 'paid 1 to c' }]);
    expect(JSON.stringify(refused)).toContain('denied_by_policy');
    expect(opened.ran()).toEqual(['pay a 1', 'shell ls', 'pay c 1']);
  });
});
