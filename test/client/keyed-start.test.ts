import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cli, jsonLines } from '../adapters/cli/support.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openWorld } from '../support/world.ts';

const world = forAllTests(() => openWorld());

const script = JSON.stringify([{ text: 'done' }]);
const asks = JSON.stringify([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }]);

describe('start with an idempotency key', () => {
  test('a repetition finds the same run: at once, at the same time, and after it has ended', async () => {
    const idempotencyKey = `order ${randomUUID()} / "ü" ${'x'.repeat(500)}`;
    const options = { idempotencyKey, caller: { userId: 'carl' }, metadata: { order: 'o-17' } };
    const start = () => world.client.start('tester', asks, options);
    const runs = await Promise.all([start(), start(), start()]);
    const { workflowId } = runs[0];
    expect(workflowId).toMatch(/^key-[0-9a-f]{40}$/);
    expect(runs.map((run) => run.workflowId)).toEqual([workflowId, workflowId, workflowId]);
    const [request] = await world.run(workflowId).open();
    await world.client.decide({ requestId: request!.requestId, approved: true });
    expect((await runs[1].result()).output).toBe('done');
    // The order of the members is no difference, nor is one that is undefined.
    const again = await world.client.start('tester', asks, {
      metadata: { order: 'o-17' },
      caller: { userId: 'carl' },
      policy: undefined,
      idempotencyKey,
    });
    expect((await again.result()).output).toBe('done');
    expect(world.ran().filter((line) => line === 'pay ann 1')).toHaveLength(1);
  });

  test.each([
    ['another input', 'tester', asks, {}],
    ['another agent', 'other', script, {}],
    ['a policy', 'tester', script, { policy: { version: 1, rules: [] } }],
    ['a mode', 'tester', script, { mode: 'plan' as const }],
    ['a caller', 'tester', script, { caller: { userId: 'eve' } }],
  ])('the same key with %s: already_started', async (_name, agent, input, more) => {
    const idempotencyKey = randomUUID();
    const { workflowId } = await world.client.start('tester', script, { idempotencyKey });
    await expect(world.client.start(agent, input, { idempotencyKey, ...more })).rejects.toMatchObject({
      code: 'already_started',
      message: `This idempotency key has started run '${workflowId}' with another agent, input or options: use a new key for a new run.`,
    });
  });

  test('a run that somebody else has started under that id: already_started', async () => {
    const idempotencyKey = randomUUID();
    const { workflowId } = await world.client.start('tester', script, { idempotencyKey });
    await world.client.run(workflowId).result();
    const client = world.client.session.client.workflow;
    // A starter without the key cannot write the digest.
    for (const memo of [{}, { approvalStart: '0'.repeat(64) }]) {
      await client.start('agentRun', {
        workflowId,
        taskQueue: world.taskQueue,
        args: [{ agent: 'tester', input: script }],
        memo,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
      await world.client.run(workflowId).result();
      await expect(world.client.start('tester', script, { idempotencyKey })).rejects.toMatchObject({
        code: 'already_started',
      });
    }
  });

  test.each([
    [{ idempotencyKey: '' }, 'an idempotencyKey is a text of 1 to 1000 characters'],
    [{ idempotencyKey: 'x'.repeat(1_001) }, 'an idempotencyKey is a text of 1 to 1000 characters'],
    [
      { idempotencyKey: 'a', workflowId: 'b' },
      'a run has a workflowId or an idempotencyKey, not both: the key becomes the id',
    ],
  ])('%j: one sentence', async (options, message) => {
    await expect(world.client.start('tester', script, options)).rejects.toMatchObject({ code: 'internal', message });
  });
});

test('countersign run --key: a repetition prints the same result', async () => {
  const key = randomUUID();
  const words = ['run', 'tester', '--key', key, '--task-queue', world.taskQueue];
  const first = await cli([...words, '--input', script]);
  const second = await cli([...words, '--input', script]);
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(jsonLines(second)).toEqual(jsonLines(first));
  const other = await cli([...words, '--input', asks]);
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringContaining('error: This idempotency key has started run'),
  ]);
});
