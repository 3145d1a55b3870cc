import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { ApprovalRequest } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { type RunInTest, type World, openWorld } from '../../support/world.ts';

/**
 * What is approved is what runs (I8): a tool that changed after its call was admitted does not start without another
 * ruling.
 */

const versions = {
  first: { description: 'Pays money.', input: z.object({ to: z.string(), amount: z.number() }) },
  second: {
    description: 'Pays money, in a currency.',
    input: z.object({ to: z.string(), amount: z.number(), currency: z.string().default('EUR') }),
  },
  strict: { description: 'Pays money by account.', input: z.object({ account: z.string() }) },
};

function agentOf(folder: string, version: keyof typeof versions) {
  const { description, input } = versions[version];
  const note = (what: string, args: object): string => {
    const line = [what, ...Object.values(args)].join(' ');
    appendFileSync(join(folder, 'ran.log'), `${line}\n`);
    return line;
  };
  return defineAgent({
    name: 'tester',
    instructions: 'Play your script.',
    model: promptScripted(),
    tools: [
      defineTool({ name: 'pay', description, input: input as z.ZodObject, execute: (args) => note('pay', args) }),
      defineTool({
        name: 'look',
        description: `Looks, ${version}.`,
        input: z.object({ what: z.string() }),
        risk: 'read_only',
        execute: (args) => note('look', args),
      }),
      defineTool({
        name: 'transfer',
        description: `Transfers, ${version}.`,
        input: z.object({ to: z.string() }),
        idempotent: true,
        // Its first attempt ends with its worker, and may have had its effect.
        execute: async (args, { signal }) => {
          note('transfer', args);
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
        },
      }),
    ],
  });
}

let world: World;
beforeEach(async () => {
  world = await openWorld({ agentsIn: (folder) => [agentOf(folder, 'first')] });
});
afterEach(() => world.close());

const deploy = async (version: keyof typeof versions): Promise<void> => {
  await world.stopWorker();
  await world.startWorker({ agents: [agentOf(world.folder, version)] });
};

const pay = (to = 'ann') => ({ tool: 'pay', args: { to, amount: 1 } });

/** Approves while no worker runs, so that the next version starts the call. */
async function approveAndDeploy(
  run: RunInTest,
  request: ApprovalRequest,
  version: keyof typeof versions,
): Promise<void> {
  await world.stopWorker();
  await run.handle.signal('decide', { requestId: request.requestId, approved: true });
  await deploy(version);
}

/** The request that replaces another one because its tool changed. */
const askedAgain = (run: RunInTest, { requestId }: ApprovalRequest): Promise<ApprovalRequest> =>
  eventually('a request about the changed tool', async () => {
    const open = await run.open();
    return open.find(({ replaces }) => replaces?.requestId === requestId && replaces.by === 'definition');
  });

test('an approved call whose tool has changed is asked about again, with the changes, and runs as shown', async () => {
  const run = await world.start([{ text: 'I pay Ann.', calls: [pay()] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  await approveAndDeploy(run, request!, 'second');
  const again = await askedAgain(run, request!);
  expect(again.arguments).toEqual({ to: 'ann', amount: 1, currency: 'EUR' });
  expect(again.digest).not.toBe(request!.digest);
  expect(again.contextSummary).toBe(
    `Tool 'pay' has changed since this call passed the gate: description 'Pays money.' became 'Pays money, in a currency.'; new argument 'currency'. I pay Ann.`,
  );
  expect(world.ran()).toEqual([]);
  await world.client.decide({ requestId: again.requestId, approved: true }, { workflowId: run.workflowId });
  await expect(run.result()).resolves.toMatchObject({
    output: 'pay ann 1 EUR',
    outcomes: [
      { callId: '1.1', requestId: request!.requestId, outcome: 'approved', ran: 'no' },
      { callId: '1.1.2', requestId: again.requestId, outcome: 'approved', ran: 'yes' },
    ],
  });
  expect(world.ran()).toEqual(['pay ann 1 EUR']);
});

test('two calls that were approved together are both asked about again', async () => {
  const run = await world.start([{ calls: [pay('ann'), pay('bob')] }, { text: 'done' }]);
  const requests = await run.open(2);
  await world.stopWorker();
  await run.handle.signal(
    'decide',
    requests.map(({ requestId }) => ({ requestId, approved: true })),
  );
  await deploy('second');
  for (const request of requests) {
    const { requestId } = await askedAgain(run, request);
    await world.client.decide({ requestId, approved: false, reason: 'not so' }, { workflowId: run.workflowId });
  }
  await expect(run.result()).resolves.toMatchObject({ status: 'completed' });
  expect(world.ran()).toEqual([]);
});

test("a grant for a tool's old definition does not answer for its new one", async () => {
  const run = await world.start([
    { calls: [pay('ann')] },
    { calls: [pay('bob')] },
    { calls: [pay('cid')] },
    { text: 'done' },
  ]);
  const [first] = await run.open();
  await world.stopWorker();
  await run.handle.signal('decide', { requestId: first!.requestId, approved: true, always: { kind: 'tool' } });
  await deploy('second');
  const again = await askedAgain(run, first!);
  const always = { kind: 'tool' } as const;
  await world.client.decide({ requestId: again.requestId, approved: true, always }, { workflowId: run.workflowId });
  await run.result();
  expect(world.ran()).toEqual(['pay ann 1 EUR', 'pay bob 1 EUR', 'pay cid 1 EUR']);
});

test('arguments that the changed tool does not accept: the model is told, and nothing runs', async () => {
  const run = await world.start([{ calls: [pay()] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  await approveAndDeploy(run, request!, 'strict');
  await expect(run.result()).resolves.toMatchObject({
    output: expect.stringMatching(/^Error: arguments.account: expected string/),
    outcomes: [{ outcome: 'approved', ran: 'no' }, { outcome: 'refused' }],
  });
  expect(world.ran()).toEqual([]);
});

test('a tool that changes with each start is asked about three more times, then refused', async () => {
  const run = await world.start([{ calls: [pay()] }, { text: '{{lastResult}}' }]);
  let [request] = (await run.open()) as [ApprovalRequest];
  for (const version of ['second', 'first', 'second'] as const) {
    await approveAndDeploy(run, request, version);
    request = await askedAgain(run, request);
  }
  await approveAndDeploy(run, request, 'first');
  await expect(run.result()).resolves.toMatchObject({
    output: `Error: tool 'pay' was not started: its definition changed 4 times, so its workers have different versions of it`,
  });
  expect(world.ran()).toEqual([]);
});

test('a call that the policy allows is evaluated again and runs; the run then has the current definition', async () => {
  const look = { tool: 'look', args: { what: 'x' } };
  const run = await world.start([{ calls: [pay()] }, { calls: [look] }, { calls: [look] }, { text: 'done' }]);
  const [request] = await run.open();
  await deploy('second');
  await world.client.decide({ requestId: request!.requestId, approved: false }, { workflowId: run.workflowId });
  await expect(run.result()).resolves.toMatchObject({
    outcomes: [
      { outcome: 'denied' },
      { callId: '2.1', outcome: 'allowed', ran: 'no' },
      { callId: '2.1.2', outcome: 'allowed', ran: 'yes' },
      { callId: '3.1', outcome: 'allowed', ran: 'yes' },
    ],
  });
  expect(world.ran()).toEqual(['look x', 'look x']);
});

test('an approved call is denied if the policy denies its new form', async () => {
  const rules: JsonObject[] = [
    { pattern: 'pay', action: 'ask' },
    { pattern: 'pay', when: 'has(args.currency)', action: 'deny', reason: 'No currencies' },
  ];
  const run = await world.start([{ calls: [pay()] }, { text: '{{lastResult}}' }], { policy: { version: 1, rules } });
  const [request] = await run.open();
  await approveAndDeploy(run, request!, 'second');
  await expect(run.result()).resolves.toMatchObject({
    output: 'Denied: No currencies',
    outcomes: [{ outcome: 'approved', ran: 'no' }, { outcome: 'denied_by_policy' }],
  });
  expect(world.ran()).toEqual([]);
});

test.each<[string, () => Promise<void>, string]>([
  ['has changed', () => deploy('second'), `'transfer' has another definition on this worker`],
  [
    'is denied by the operator',
    async () => {
      await world.stopWorker();
      await world.startWorker({ policy: { rules: [{ pattern: 'transfer', action: 'deny', reason: 'No transfers' }] } });
    },
    'No transfers',
  ],
])('a call that may be repeated, and %s after an attempt, may have run', async (_, change, why) => {
  const transfer = { tool: 'transfer', args: { to: 'ann' } };
  const run = await world.start([{ calls: [transfer] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
  await eventually('the first attempt', () => world.ran().length === 1);
  await change();
  const { output, outcomes } = await run.result();
  expect(output).toContain('Unknown: the tool was started but its outcome is not known');
  const { events } = await run.handle.fetchHistory();
  const failures = events!.flatMap((event) => event.activityTaskFailedEventAttributes?.failure?.message ?? []);
  expect(failures).toEqual([
    expect.stringContaining(`'transfer' may have been started before and is not started again: ${why}`),
  ]);
  expect(outcomes).toMatchObject([{ callId: '1.1', outcome: 'approved', ran: 'unknown' }]);
  expect(outcomes).toHaveLength(1);
  expect(world.ran()).toEqual(['transfer ann']);
});
