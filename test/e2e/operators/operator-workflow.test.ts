import { describe, expect, test } from 'vitest';
import type { RunStatus } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { projectHistories } from '../../support/read-histories.ts';
import { eventually } from '../../support/eventually.ts';
import { onWorkflow, startBatch } from './operator.ts';
import { ended, openOperatorWorld } from './operator-world.ts';
import { temporal } from '../../support/temporal-cli.ts';

/** `temporal workflow …` applied to a waiting request or a running tool: docs/operator-commands.md. */

const world = forAllTests(() => openOperatorWorld());

const held = (name: string) => ({ output: `held ${name}`, ran: 'yes' });
const decision = (requestId: string): string => JSON.stringify({ requestId, approved: true });
const startWith = (...options: string[]): string[] => {
  const input = JSON.stringify({ agent: 'tester', input: '[{"text":"a new run"}]' });
  return [...options, '--type', 'agentRun', '--task-queue', world.taskQueue, '--input', input];
};
const signalWithStart = (requestId: string): string[] =>
  startWith('--signal-name', 'decide', '--signal-input', decision(requestId));
const updateWithStart = (requestId: string, onConflict: string): string[] =>
  startWith('--update-name', 'decide', '--update-input', decision(requestId), '--id-conflict-policy', onConflict);

describe('a waiting request', () => {
  test('update-options: it stays open', async () => {
    const { run, requestId } = await world.waiting('hold', 'options');
    await onWorkflow('update-options', run.handle, '--versioning-override-behavior', 'auto_upgrade');
    await onWorkflow('signal', run.handle, '--name', 'decide', '--input', decision(requestId));
    expect(await ended(run)).toEqual(held('options'));
  });

  test('signal-with-start: decides the request; after the run has ended, starts another run, in which the request is unknown', async () => {
    const { run, requestId } = await world.waiting('hold', 'signalled');
    await onWorkflow('signal-with-start', run.handle, ...signalWithStart(requestId));
    expect(await ended(run)).toEqual(held('signalled'));
    await onWorkflow('signal-with-start', run.handle, ...signalWithStart(requestId));
    const again = world.run(run.workflowId);
    expect(await again.result()).toMatchObject({ output: 'a new run', outcomes: [] });
    expect((await again.handle.query<RunStatus>('run')).refused.last).toMatchObject([{ code: 'unknown_request' }]);
    expect(world.starts('signalled')).toBe(1);
  });

  test('execute-update-with-start: decides the request; after the run has ended, starts another run, which rejects it', async () => {
    const { run, requestId } = await world.waiting('hold', 'updated');
    await onWorkflow('execute-update-with-start', run.handle, ...updateWithStart(requestId, 'UseExisting'));
    expect(await ended(run)).toEqual(held('updated'));
    const again = onWorkflow('execute-update-with-start', run.handle, ...updateWithStart(requestId, 'UseExisting'));
    await expect(again).rejects.toThrow('unknown_request');
    expect(world.starts('updated')).toBe(1);
  });

  test('execute-update-with-start that terminates the run: nothing runs', async () => {
    const { run, requestId } = await world.waiting('hold', 'replaced');
    const update = onWorkflow(
      'execute-update-with-start',
      run.handle,
      ...updateWithStart(requestId, 'TerminateExisting'),
    );
    await expect(update).rejects.toThrow('unknown_request');
    expect(world.starts('replaced')).toBe(0);
  });

  test('pause: refused if the namespace does not enable it', async () => {
    const { run, requestId } = await world.waiting('hold', 'paused');
    await expect(onWorkflow('pause', run.handle)).rejects.toThrow('not enabled');
    await run.handle.signal('decide', { requestId, approved: true });
    expect(await ended(run)).toEqual(held('paused'));
  });

  test('cancel: it is cancelled with its run', async () => {
    const { run, requestId } = await world.waiting('hold', 'cancelled');
    await onWorkflow('cancel', run.handle);
    expect(await run.result()).toMatchObject({ status: 'cancelled' });
    // A busy worker may answer too late: then the client says only that the run is closed.
    const refusal = await eventually('the run answers', () =>
      world.client.decide({ requestId, approved: true }, { workflowId: run.workflowId }).then(
        () => 'accepted',
        ({ message }: Error) => (message.includes('takes no more messages') ? undefined : message),
      ),
    );
    expect(refusal).toContain('was already settled: cancelled');
  });

  test('terminate: it can no longer be decided', async () => {
    const { run, requestId } = await world.waiting('hold', 'terminated');
    await onWorkflow('terminate', run.handle);
    await expect(world.client.decide({ requestId, approved: true }, { workflowId: run.workflowId })).rejects.toThrow(
      'takes no more messages',
    );
  });

  test('an activity command: there is no activity to act on', async () => {
    const { run } = await world.waiting('hold', 'no activity');
    const place = ['--workflow-id', run.workflowId, '--activity-id', '3'];
    for (const command of ['pause', 'unpause', 'reset']) {
      expect(await temporal(['activity', command, ...place])).toMatchObject({ exitCode: 1 });
    }
    expect((await run.status()).counts.open).toBe(1);
    await run.handle.terminate();
  });

  test('a batch cancels every run that the query finds', async () => {
    const { run } = await world.waiting('hold', 'batch');
    const query = `WorkflowId = "${run.workflowId}"`;
    await eventually('the run is listed', async () => {
      const { stdout } = await temporal(['workflow', 'count', '--query', query]);
      return /Total: 1/.test(stdout);
    });
    expect(await startBatch(['workflow', 'cancel', '--yes', '--query', query])).toMatchObject({ exitCode: 0 });
    expect(await run.result()).toMatchObject({ status: 'cancelled' });
  });
});

describe('a running tool', () => {
  test('cancel: it is cancelled with the run', async () => {
    const run = await world.running('hold', 'cancelled tool');
    await onWorkflow('cancel', run.handle);
    expect(await run.result()).toMatchObject({ status: 'cancelled' });
    const { outcomes } = projectHistories([await run.handle.fetchHistory()]);
    expect(outcomes).toMatchObject([{ outcome: 'allowed', ran: 'unknown' }]);
    expect(world.starts('cancelled tool')).toBe(1);
  });

  test.each([
    ['terminate', []],
    ['delete', ['--yes']],
  ])('%s: it is cancelled by its next heartbeat, and not started again', async (command, options) => {
    const run = await world.running('hold', command);
    await onWorkflow(command, run.handle, ...options);
    await eventually('the tool stops', () => world.ran().includes(`stop ${command}`));
    expect(world.starts(command)).toBe(1);
  });
});
