/** What an operator lets a run do, signed with a key that the workers have revoked and the run has not heard of. */
import { afterEach, expect, test } from 'vitest';
import { signMessage, type SigningOptions, createReviewerKey } from '../../../src/client/send/sign-message.ts';
import { activityNames, type Receipt } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';

const desk = createReviewerKey();
const policy = {
  rules: [{ pattern: 'echo', action: 'ask', ask: { reviewers: ['ann'], always: 'tool' } }],
  directory: { people: { zoe: { keys: ['desk'] } } },
  reviewer_keys: { desk: { public_key: desk.publicKey, operator: true } },
};
const asksAboutPay = { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] };
const pay = { tool: 'pay', args: { to: 'eve', amount: 999 } };
const say = { tool: 'echo', args: { text: 'no' } };

let world: World;
afterEach(() => world.close());

/** A run that asks about a payment after a standing denial, and then workers that have revoked something. */
async function asking(revoked?: object, directory: object = policy.directory) {
  world = await openWorld({ policy });
  const run = await world.start([{ calls: [say] }, { calls: [pay, say] }, { text: '{{lastResult}}' }], {
    policy: asksAboutPay,
  });
  const { workflowId } = run;
  const [first] = await run.open();
  const denial = { approved: false, reviewerId: 'ann', always: { kind: 'tool' as const } };
  await world.client.decide({ requestId: first!.requestId, ...denial }, { workflowId });
  await eventually('the payment is asked about', async () =>
    (await run.open()).some((each) => each.toolName === 'pay'),
  );
  await world.stopWorker();
  await world.startWorker({ policy: { ...policy, directory, ...(revoked && { revoked }) } });
  return { run, signing: { keyId: 'desk', privateKey: desk.privateKey, workflowId, namespace: 'default' } };
}

type Send = (run: RunInTest, signing: SigningOptions) => Promise<Receipt>;
const messages: [string, Send][] = [
  [
    'another policy',
    async ({ workflowId }, signing) => {
      const change = { policy: { version: 1, rules: [{ pattern: 'pay', action: 'allow' }] } };
      return world.client.setPolicy(workflowId, signMessage('setPolicy', change, signing));
    },
  ],
  [
    'another mode',
    async ({ workflowId }, signing) =>
      world.client.setPolicy(workflowId, signMessage('setPolicy', { mode: 'plan' }, signing) as never),
  ],
  [
    'the end of a standing denial',
    async ({ workflowId }, signing) => {
      const grants = await world.client.grants(workflowId);
      const denied = grants.filter(({ approved }) => !approved).map(({ grantId }) => grantId);
      expect(denied).toHaveLength(1);
      return world.client.revoke(workflowId, signMessage('revoke', { grants: denied }, signing));
    },
  ],
];

/** How often a worker was asked, be it together with a policy to read. */
const checks = async ({ handle }: RunInTest): Promise<number> => {
  const { events = [] } = await handle.fetchHistory();
  const asking: string[] = [activityNames.checkApprovers, activityNames.readPolicy];
  return events!.filter(({ activityTaskScheduledEventAttributes: each }) =>
    asking.includes(each?.activityType?.name ?? ''),
  ).length;
};
const refusalOf = (sent: Promise<Receipt>): Promise<unknown> =>
  sent.then(
    ({ accepted }) => ({ accepted }),
    ({ code, message }: { code: string; message: string }) => ({ code, message }),
  );

test.each(messages)('%s is applied while the key counts, after one check', async (_, send) => {
  const { run, signing } = await asking();
  expect(await send(run, signing)).toMatchObject({ accepted: true });
  expect(await checks(run)).toBe(1);
});

test.each(messages)('%s is refused once the key is revoked', async (_, send) => {
  const { run, signing } = await asking({ keys: ['desk'] });
  const message = `key 'desk' is revoked by the operator's policy, and counts no more`;
  expect(await refusalOf(send(run, signing))).toEqual({ code: 'unverified_reviewer', message });
  // It asks as before, and knows from now on.
  expect(await run.open()).toMatchObject([{ toolName: 'pay' }]);
  expect(await refusalOf(send(run, signing))).toEqual({ code: 'unverified_reviewer', message });
  expect(await checks(run)).toBe(1);
});

test('a message that is signed for a later time keeps no later one out', async () => {
  const { run, signing } = await asking();
  const [, send] = messages[1]!;
  const signedAt = new Date(Date.now() + 3_600_000).toISOString();
  expect(await refusalOf(send(run, { ...signing, signedAt }))).toMatchObject({ code: 'not_permitted_by_ceiling' });
  expect(await send(run, signing)).toMatchObject({ accepted: true });
});

test('it is refused once the person of the key is revoked', async () => {
  const { run, signing } = await asking({ people: ['Zoe'] });
  const [, send] = messages[0]!;
  expect(await refusalOf(send(run, signing))).toMatchObject({ code: 'unverified_reviewer' });
});

test.each(messages)('%s is refused where the operator knows the person by another id now', async (_, send) => {
  const renamed = { people: { 'zoe.lee': { also: ['zoe'], keys: ['desk'] } } };
  const { run, signing } = await asking({ people: ['zoe.lee'] }, renamed);
  expect(await refusalOf(send(run, signing))).toMatchObject({ code: 'unverified_reviewer' });
  expect(await run.open()).toMatchObject([{ toolName: 'pay' }]);
});

test('a signal is refused, too, and nothing that comes behind it overtakes it', async () => {
  const { run, signing } = await asking({ keys: ['desk'] });
  const change = { policy: { version: 1, rules: [{ pattern: 'pay', action: 'allow' }] } };
  await run.handle.signal('setPolicy', signMessage('setPolicy', change, signing));
  const [request] = await run.open();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: false, reviewerId: 'ann' });
  const { outcomes } = await run.result();
  expect(outcomes.map(({ toolName, outcome }) => `${toolName} ${outcome}`)).toContain('pay denied');
  expect(world.ran()).toEqual([]);
  const { refused } = await run.status();
  expect(refused.last).toMatchObject([{ code: 'unverified_reviewer' }]);
});
