/** While a worker is asked whether an approval still counts: who can end the wait, and who can write the answer. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterEach, expect, test } from 'vitest';
import { activityNames } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { callOf, last, once, team } from '../../support/team.ts';
import { openWorld, type RunInTest, type Turns, type World } from '../../support/world.ts';

const rules = ['lax', 'look'].map((pattern) => ({ pattern, action: 'ask', ask: { reviewers: ['ann'] } }));
const policy = { rules: [{ pattern: 'hold', action: 'allow' }, ...rules], directory: { people: { ann: {} } } };
const nested = once(callOf('lax', { text: 'the answer of the nested run' }));
const looks: Turns = [{ calls: [{ tool: 'look', args: { what: 'sea' } }] }, last];

let world: World;
afterEach(() => world.close());

const release = (): void => writeFileSync(join(world.folder, 'release-slot'), '');

/** A run of which ann has answered the only request, while another run has the only slot for activities. */
async function checking(turns: Turns, more: object): Promise<RunInTest> {
  world = await openWorld({ agentsIn: (folder) => team(folder), policy, maxConcurrentActivityTaskExecutions: 1 });
  const run = await world.start(turns);
  const [request] = await run.open();
  await world.start([{ calls: [{ tool: 'hold', args: { name: 'slot' } }] }, { text: 'done' }]);
  await eventually('the slot is taken', () => world.ran().includes('start slot'));
  const decision = { requestId: request!.requestId, approved: true, reviewerId: 'ann', ...more };
  await world.client.decide(decision, { workflowId: run.workflowId });
  await eventually('the check waits', async () => {
    const { raw } = await run.handle.describe();
    return raw.pendingActivities?.some(({ activityType }) => activityType?.name === activityNames.checkApprovers);
  });
  return run;
}

const answer = { approved: false, response: 'by hand' };
const inFlight: [string, Turns, object, string][] = [
  ['a nested run', nested, {}, 'lax approved no'],
  ['an answer in the place of a tool', looks, answer, 'look responded no'],
];

test.each(inFlight)('a close does not wait for the check of %s', async (_, turns, more, outcome) => {
  const run = await checking(turns, more);
  expect((await run.status()).nested ?? []).toEqual([]);
  await world.client.session.client.workflow.getHandle(run.workflowId).signal('close', { reason: 'done with it' });
  const { status, outcomes } = await run.result();
  expect(status).toBe('closed');
  expect(outcomes.map(({ toolName, outcome: how, ran }) => `${toolName} ${how} ${ran}`)).toEqual([outcome]);
  release();
});

test.each<[unknown, string]>([
  [null, 'it is not known whether the approval of this call still counts'],
  ['no', 'it is not known whether the approval of this call still counts'],
  [{ problem: 7 }, 'it is not known whether the approval of this call still counts'],
  [{ problem: 'not today' }, 'not today'],
  // What is revoked is ignored if it has another form.
  [{ revoked: { keys: 'ann', people: [7] } }, 'the answer of the nested run'],
])('a stranger who answers the check with %j', async (written, output) => {
  const run = await checking(nested, {});
  const connection = await NativeConnection.connect({ address: sharedAddress() });
  const forger = await Worker.create({
    connection,
    taskQueue: world.taskQueue,
    activities: { [activityNames.checkApprovers]: async () => written },
  });
  const forging = forger.run();
  await eventually('the check is answered', async () => {
    const { raw } = await run.handle.describe();
    return raw.pendingActivities?.every(({ activityType }) => activityType?.name !== activityNames.checkApprovers);
  });
  forger.shutdown();
  await forging;
  await connection.close();
  release();
  expect((await run.result()).output).toContain(output);
});
