import { describe, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld } from '../../support/world.ts';

const world = forAllTests(() => openWorld());

const ask = [{ calls: [{ tool: 'pay', args: { to: 'end', amount: 1 } }] }, { text: 'done' }];
const listed = async (workflowId: string): Promise<boolean> => {
  const { client } = world.client.session;
  const query = `ApprovalIds IS NOT NULL AND ExecutionStatus = "Running" AND WorkflowId = "${workflowId}"`;
  for await (const _ of client.workflow.list({ query })) return true;
  return false;
};

test('cancel with an open request: settled as cancelled, without a reviewer, and removed from the inbox', async () => {
  const run = await world.start(ask);
  const [request] = await run.open();
  await eventually('it is listed', () => listed(run.workflowId));
  await run.handle.cancel();
  await eventually('the run has ended', async () => (await run.handle.describe()).status.name === 'CANCELLED');
  expect(await run.open(0)).toEqual([]);
  expect(await run.handle.query('approvals', { requestId: request!.requestId })).toMatchObject({
    settled: { outcome: 'cancelled', reason: 'the run was cancelled' },
  });
  expect((await run.status()).outcomes).toMatchObject([{ outcome: 'cancelled', ran: 'no' }]);
  await eventually('it is not listed', async () => !(await listed(run.workflowId)));
  await expect(
    world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId }),
  ).rejects.toMatchObject({ code: 'run_closed' });
});

test('settled while the run continues: removed from the inbox, and still found as settled', async () => {
  const run = await world.start([ask[0]!, { calls: [{ tool: 'hold', args: { name: 'busy' } }] }], {
    policy: { version: 1, rules: [{ pattern: 'hold', action: 'allow' }] },
  });
  const [request] = await run.open();
  await eventually('it is listed', () => listed(run.workflowId));
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  await eventually('the next tool runs', () => world.ran().includes('start busy'));
  await eventually('it is not listed', async () => !(await listed(run.workflowId)));
  expect(await world.client.approvals.get(request!.requestId)).toMatchObject({ settled: { outcome: 'approved' } });
  await run.handle.terminate();
});

test('terminate with an open request: removed from the inbox, and a decision is told that the run is closed', async () => {
  const run = await world.start(ask);
  const [request] = await run.open();
  await run.handle.terminate();
  await eventually('it is not listed', async () => !(await listed(run.workflowId)));
  await expect(
    world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId }),
  ).rejects.toMatchObject({ code: 'run_closed' });
});

test('cancel while a tool runs: the tool is told, and the outcome is unknown', async () => {
  const run = await world.start([{ calls: [{ tool: 'hold', args: { name: 'cancelled' } }] }], {
    policy: { version: 1, rules: [{ pattern: 'hold', action: 'allow' }] },
  });
  await eventually('the tool runs', () => world.ran().includes('start cancelled'));
  await run.handle.cancel();
  await eventually('the run has ended', async () => (await run.handle.describe()).status.name === 'CANCELLED');
  expect(world.ran()).not.toContain('end cancelled');
  expect((await run.status()).outcomes).toMatchObject([{ toolName: 'hold', outcome: 'allowed', ran: 'unknown' }]);
});

test('more turns than the agent may take: the run ends with the status limit', async () => {
  const turns = Array.from({ length: 60 }, () => ({ calls: [{ tool: 'look', args: { what: 'on' } }] }));
  expect(await (await world.start(turns)).result()).toMatchObject({
    status: 'limit',
    output: 'Stopped after 50 turns',
  });
});

describe('a start that is not possible fails with one sentence and its code', () => {
  const start = (...args: unknown[]) =>
    world.client.session.client.workflow.execute('agentRun', {
      workflowId: `bad-${randomUUID()}`,
      taskQueue: world.taskQueue,
      args,
    });
  const rows: [string, unknown[], string, string | RegExp][] = [
    [
      'no input at all',
      [],
      'arguments_invalid',
      `The run's input must be an object such as {"agent":"NAME","input":"TEXT"}`,
    ],
    ['text', ['tester'], 'arguments_invalid', /must be an object/],
    ['a list', [[]], 'arguments_invalid', /must be an object/],
    ['null', [null], 'arguments_invalid', /must be an object/],
    ['no agent', [{ input: 'x' }], 'arguments_invalid', /^The run's 'agent'/],
    ['an unknown field', [{ agent: 'tester', input: '[]', polcy: {} }], 'arguments_invalid', /polcy/],
    [
      'a session that is none',
      [{ agent: 'tester', input: '[]', session: false }],
      'arguments_invalid',
      /^The run's 'session'/,
    ],
    [
      'an unknown agent',
      [{ agent: 'nobody', input: '[]' }],
      'agent_unknown',
      `No agent 'nobody' on this worker; it has: 'tester'`,
    ],
    [
      'an agent named like a property',
      [{ agent: 'constructor', input: '[]' }],
      'agent_unknown',
      /No agent 'constructor'/,
    ],
    [
      'a policy that does not load',
      [{ agent: 'tester', input: '[]', policy: { version: 1, rules: [{ pattern: 'x', action: 'maybe' }] } }],
      'policy_invalid',
      /rules/,
    ],
    [
      'more requests at a time than the index holds',
      [{ agent: 'tester', input: '[]', policy: { version: 1, approval: { max_pending: 51 } } }],
      'policy_invalid',
      /50/,
    ],
    [
      'a ceiling of its own',
      [{ agent: 'tester', input: '[]', policy: { version: 1, approval: { max_timeout: '48h' } } }],
      'policy_invalid',
      /ceiling/,
    ],
    [
      'metadata beyond its size',
      [{ agent: 'tester', input: '[]', metadata: { big: 'x'.repeat(5_000) } }],
      'arguments_invalid',
      /metadata/,
    ],
    ['an input beyond its size', [{ agent: 'tester', input: 'x'.repeat(600_000) }], 'too_large', /at most 512000/],
  ];
  test.each(rows)('%s', async (_name, args, type, message) => {
    const failure = (await start(...args).catch((error: unknown) => error)) as {
      cause?: { type: string; message: string };
    };
    expect(failure.cause).toMatchObject({ type });
    expect(failure.cause!.message).toMatch(message);
    expect(failure.cause!.message).not.toMatch(/\n/);
  });
});
