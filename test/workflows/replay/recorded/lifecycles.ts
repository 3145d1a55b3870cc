/**
 * Recorded runs with more than plain decisions: grants, edits, policy changes, votes, escalation steps, closings, and
 * gates in a user's own workflow.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createReviewerKey, signDecision } from '../../../../src/client/send/sign-message.ts';
import type { ApprovalRequest } from '../../../../src/contract.ts';
import type { JsonObject } from '../../../../src/core/base/tool-call.ts';
import { bundleWorkflows } from '../../../../src/worker.ts';
import { eventually } from '../../../support/eventually.ts';
import { ask, finished, no, once, oneTaskMore, pay, continuedAsNew, yes, type RecordedRun } from './play-runs.ts';
import { gatedOrders, orderActivities } from '../../bundles/recorded-orders-gated.ts';
import type { OrdersState } from '../../bundles/recorded-orders.ts';
import type { RunInTest, Turns, World, WorldOptions } from '../../../support/world.ts';

const paying = (...wishes: [amount: number, to: string][]) => ({
  calls: wishes.map(([amount, to]) => pay(amount, to)),
});
const end = { text: '{{lastResult}}' };
const asking = (terms: object, more: object = {}): JsonObject =>
  ({ version: 1, rules: [{ id: 'pay', pattern: 'pay', action: 'ask', ask: terms }], ...more }) as unknown as JsonObject;
const large = (reviewer: string) => ({
  id: 'large',
  pattern: 'pay',
  when: 'args.amount > 1000.0',
  action: 'ask',
  ask: { reviewers: [reviewer] },
});
const annOrCfo: JsonObject = {
  version: 1,
  rules: [...(asking({ reviewers: ['ann'] })['rules'] as JsonObject[]), large('cfo')],
};
const later = ({ deadline }: ApprovalRequest, moreMs: number): string =>
  new Date(Date.parse(deadline!) + moreMs).toISOString();

async function requestTo(run: RunInTest, to: string): Promise<ApprovalRequest> {
  return eventually(`a request to pay ${to}`, async () =>
    (await run.open()).find((request) => request.arguments['to'] === to),
  );
}

/** Edits the call of a run so that somebody else has to approve it, and returns the new request. */
async function editedInto2000(run: RunInTest): Promise<ApprovalRequest> {
  const [request] = await run.open();
  const modifiedArguments = { to: 'ann', amount: 2_000 };
  const receipt = await ask(run, 'decide', { ...yes(request!), reviewerId: 'ann', modifiedArguments });
  return eventually('the successor', async () =>
    (await run.open()).find(({ requestId }) => requestId === receipt.successor),
  );
}

const two = { reviewers: ['ann', 'bob', 'cem'], quorum: 2 };
const key = createReviewerKey();
const signing = asking(
  { reviewers: ['ann'], verified: true },
  { directory: { people: { ann: { keys: ['laptop'] } } }, reviewer_keys: { laptop: key.publicKey } },
);
const stepsFrom = { reviewers: ['ann'], timeout: '1m', remind: '2s', warn_before: '58500ms' };

export const recordedLifecycles: RecordedRun[] = [
  {
    name: 'always-and-never',
    play: async (world) => {
      const run = await world.start([
        paying([1, 'ann'], [2, 'ann'], [3, 'bob']),
        paying([4, 'ann'], [5, 'cem']),
        paying([6, 'ann']),
        paying([7, 'ann'], [8, 'ann']),
        end,
      ] as Turns);
      const [first] = await run.open(3);
      // Settles the second request too.
      await ask(run, 'decide', { ...yes(first!), always: { kind: 'arguments', match: { to: 'ann' }, uses: 9 } });
      await run.handle.signal('decide', no(await requestTo(run, 'bob'), 'not bob'));
      const cem = await requestTo(run, 'cem');
      await ask(run, 'revoke', { grants: ['grant-1'], by: 'ann', reason: 'enough', messageId: 'm-1' });
      await run.handle.signal('decide', yes(cem));
      await ask(run, 'decide', { ...no(await requestTo(run, 'ann'), 'never'), always: { kind: 'tool' } });
      return finished(run);
    },
  },
  {
    name: 'edited',
    play: async (world) => {
      const run = await world.start([paying([1, 'ann']), paying([5, 'ann']), end] as Turns, { policy: annOrCfo });
      const successor = await editedInto2000(run);
      await run.handle.signal('decide', { ...yes(successor), reviewerId: 'cfo' });
      const next = await eventually('the next request', async () =>
        (await run.open()).find(({ arguments: { amount } }) => amount === 5),
      );
      const bad = { ...yes(next), reviewerId: 'ann', modifiedArguments: { to: 7 } };
      await ask(run, 'decide', bad).catch(() => undefined);
      await run.handle.signal('decide', { ...bad, modifiedArguments: { to: 'bob', amount: 6 } });
      return finished(run);
    },
  },
  {
    name: 'policy-changed',
    play: async (world) => {
      const look = { tool: 'look', args: { what: 'sea' } };
      const policy = asking({}, { mode: 'confirm_all' });
      const run = await world.start(once(pay(), pay(2, 'bob'), look, { tool: 'echo', args: { x: 1 } }), { policy });
      await run.open(4);
      const rules = [
        { pattern: 'look', action: 'allow' },
        { pattern: 'pay:bob', action: 'deny', reason: 'bob is paid' },
        { id: 'two', pattern: 'pay:ann', action: 'ask', ask: two },
      ];
      await ask(run, 'setPolicy', { policy: { version: 1, rules }, mode: 'default', by: 'olga', reason: 'audit' });
      await eventually('two are settled', async () => (await run.open()).length === 2);
      const ann = await requestTo(run, 'ann');
      for (const reviewerId of ['ann', 'bob']) await ask(run, 'decide', { ...yes(ann), reviewerId });
      await run.handle.signal('setPolicy', { mode: 'auto_deny' });
      return finished(run);
    },
  },
  {
    name: 'steps-before-deadline',
    play: async (world) => {
      const policy = asking({ ...stepsFrom, remind: '1s', escalate: [{ after: '300ms', to: ['cfo'] }] });
      const run = await world.start(once(pay()), { policy });
      const [request] = await run.open();
      await eventually('three steps', async () => {
        const { events } = await run.handle.fetchHistory();
        const told = events!.filter(
          (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'countersign.notify',
        );
        return told.length >= 3;
      });
      await run.handle.signal('decide', { ...yes(request!), reviewerId: 'cfo' });
      return finished(run);
    },
  },
  {
    name: 'extended-delegated-voted',
    play: async (world) => {
      const run = await world.start(once(pay()), { policy: asking({ ...two, timeout: '30s' }) });
      const [request] = await run.open();
      const { requestId } = request!;
      await ask(run, 'extend', { requestId, until: later(request!, 60_000), by: 'ann', messageId: 'more' });
      await run.handle.signal('extend', { requestId, until: later(request!, 60_000), by: 'ann', messageId: 'more' });
      await run.handle.signal('delegate', { requestId, to: 'eve', by: 'bob' });
      await run.handle.signal('decide', { ...yes(request!), reviewerId: 'ann', decisionId: 'v1' });
      await ask(run, 'decide', { ...yes(request!), reviewerId: 'ann', decisionId: 'v1' });
      await ask(run, 'decide', { ...yes(request!), reviewerId: 'bob' }).catch(() => undefined);
      await ask(run, 'decide', { ...yes(request!), reviewerId: 'eve' });
      return finished(run);
    },
  },
  {
    name: 'outvoted',
    play: async (world) => {
      const run = await world.start(once(pay(), pay(2)), { policy: asking({ ...two, veto: false }) });
      for (const request of await run.open(2)) {
        await run.handle.signal('decide', { ...no(request), reviewerId: 'cem' });
        await ask(run, 'decide', { ...no(request), reviewerId: 'bob' });
      }
      return finished(run);
    },
  },
  {
    name: 'signed',
    world: { policy: signing },
    play: async (world) => {
      const run = await world.start(once(pay()));
      const [request] = await run.open();
      const { workflowId } = run;
      const sign = { keyId: 'laptop', privateKey: key.privateKey, workflowId, namespace: 'default' };
      const elsewhere = signDecision(yes(request!), { ...sign, workflowId: 'another' });
      await run.handle.signal('decide', elsewhere);
      await ask(run, 'decide', elsewhere).catch(() => undefined);
      await run.handle.signal('decide', signDecision(yes(request!), sign));
      return finished(run);
    },
  },
  {
    name: 'forged-signatures',
    world: { policy: signing },
    play: async (world) => {
      const run = await world.start(once(pay()));
      const [request] = await run.open();
      const signature = {
        keyId: 'laptop',
        signedAt: '2030-01-31T12:00:00Z',
        value: Buffer.alloc(64, 1).toString('base64'),
      };
      const forged = { ...yes(request!), signature };
      // As many signatures as one execution verifies; after that it continues as new.
      for (let list = 0; list < 2; list++)
        await run.handle.signal(
          'decide',
          Array.from({ length: 100 }, () => forged),
        );
      await eventually('the next execution', async () => (await run.status()).executions === 2);
      const { workflowId } = run;
      const sign = { keyId: 'laptop', privateKey: key.privateKey, workflowId, namespace: 'default' };
      await ask(run, 'decide', signDecision(yes(request!), sign));
      return finished(run);
    },
  },
  {
    name: 'closed',
    play: async (world) => {
      const run = await world.start([paying([1, 'ann'], [2, 'bob']), end] as Turns);
      const [first] = await run.open(2);
      await run.handle.signal('decide', yes(first!));
      await run.handle.signal('close', { by: 'ann', reason: 'the day is over' });
      return finished(run);
    },
  },
  {
    name: 'votes-and-grants-in-second-execution',
    waiting: true,
    world: { continueAsNewAfter: { historyEvents: 60 } },
    play: async (world) => {
      const policy = asking(stepsFrom);
      (policy['rules'] as object[]).push({ pattern: 'wipe', action: 'ask', ask: { ...two, timeout: '1h' } });
      const run = await world.start([paying([1, 'ann']), { calls: [{ tool: 'wipe', args: {} }] }, end] as Turns, {
        policy,
      });
      const [first] = await run.open();
      await ask(run, 'decide', { ...yes(first!), reviewerId: 'ann', always: true });
      const wipe = await eventually('wipe is asked about', async () =>
        (await run.open()).find(({ toolName }) => toolName === 'wipe'),
      );
      const { requestId } = wipe;
      await ask(run, 'extend', { requestId, until: later(wipe, 3_600_000), by: 'ann', messageId: 'more' });
      await ask(run, 'delegate', { requestId, to: 'eve', by: 'bob' });
      await ask(run, 'decide', { ...yes(wipe), reviewerId: 'ann', decisionId: 'v1' });
      await ask(run, 'setPolicy', { mode: 'confirm_all', by: 'olga' });
      await continuedAsNew(world, run);
      // Repeats messages that the previous execution received.
      await ask(run, 'decide', { ...yes(wipe), reviewerId: 'ann', decisionId: 'v1' });
      await ask(run, 'extend', { requestId, until: later(wipe, 3_600_000), by: 'ann', messageId: 'more' });
      await oneTaskMore(world, run);
      return run;
    },
  },
  {
    name: 'edited-successor-open',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(pay()), { policy: annOrCfo });
      await editedInto2000(run);
      await oneTaskMore(world, run);
      return run;
    },
  },
  {
    name: 'policy-changed',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(pay(), pay(2, 'bob')), { policy: asking({}) });
      await run.open(2);
      const rules = [
        { pattern: 'pay:bob', action: 'deny' },
        { pattern: 'pay:ann', action: 'ask', ask: two },
      ];
      await ask(run, 'setPolicy', { policy: { version: 1, rules } });
      await eventually('one is settled', async () => (await run.open()).length === 1);
      await oneTaskMore(world, run);
      return run;
    },
  },
  {
    name: 'reminded',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(pay()), { policy: asking(stepsFrom) });
      await run.open();
      await eventually('a reminder', async () => {
        const { events } = await run.handle.fetchHistory();
        return events!.some(
          (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'countersign.notify',
        );
      });
      await oneTaskMore(world, run);
      return run;
    },
  },
];

/** A worker with the workflow of `recorded-orders.ts`. */
const ordersWorld = async (more: WorldOptions = {}): Promise<WorldOptions> => ({
  agentsIn: () => [],
  activities: orderActivities,
  gated: gatedOrders,
  workflowTypes: ['orders'],
  workflowBundle: await bundleWorkflows(fileURLToPath(new URL('../../bundles/recorded-workflows.ts', import.meta.url))),
  ...more,
});

async function startOrders(world: World): Promise<RunInTest> {
  const { client, taskQueue } = world;
  const workflowId = `orders-${randomUUID()}`;
  const open = ['ann', 'bob', 'cem'].map((to, index) => ({ to, amount: index + 1 }));
  const args: [OrdersState] = [{ open, told: [] }];
  await client.session.client.workflow.start('orders', { workflowId, taskQueue, args });
  return world.run(workflowId);
}

recordedLifecycles.push(
  {
    name: 'orders-of-ones-own',
    world: () => ordersWorld({ continueAsNewAfter: { historyEvents: 40 } }),
    play: async (world) => {
      const run = await startOrders(world);
      const open = await run.open(3);
      await ask(run, 'decide', yes(open[0]!));
      await continuedAsNew(world, run);
      const modifiedArguments = { to: 'bob', amount: 20 };
      await ask(run, 'decide', { ...yes(open[1]!), modifiedArguments });
      await run.handle.signal('decide', no(open[2]!, 'not cem'));
      return finished(run);
    },
  },
  {
    name: 'orders-of-ones-own-closed',
    world: () => ordersWorld(),
    play: async (world) => {
      const run = await startOrders(world);
      const [first] = await run.open(3);
      await run.handle.signal('decide', yes(first!));
      await run.handle.signal('close', { reason: 'enough' });
      return finished(run);
    },
  },
  {
    name: 'orders-of-ones-own',
    waiting: true,
    world: () => ordersWorld({ continueAsNewAfter: { historyEvents: 40 } }),
    play: async (world) => {
      const run = await startOrders(world);
      const [first] = await run.open(3);
      await ask(run, 'decide', { ...yes(first!), always: { kind: 'arguments', match: { to: 'a*' } } });
      await continuedAsNew(world, run);
      await oneTaskMore(world, run);
      return run;
    },
  },
);
