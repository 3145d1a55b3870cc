import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import proto from '@temporalio/proto';
import type { ApprovalRequest } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { temporal } from '../../support/temporal-cli.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * Payloads that claim to be in external storage (I5c). The SDK processes them before any converter.
 * `src/payload-folder/large-payloads.ts` guards well-formed ones; the SDK's public interface leaves no way to guard
 * malformed ones, as `docs/security.md` says. The second half of this file documents that behaviour: if it fails
 * because the SDK has improved, delete it and the paragraph there.
 */

// Silences the stack traces of tasks that fail on purpose.
installQuietRuntime({ errors: false });

type Payload = proto.temporal.api.common.v1.IPayload;
const stages = proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;
const reference = (data: string): Payload => ({
  metadata: {
    encoding: Buffer.from('json/protobuf'),
    messageType: Buffer.from('temporal.api.sdk.v1.ExternalStorageReference'),
  },
  data: Buffer.from(data),
});
const json = (value: unknown): Payload => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(value)),
});
const wellFormed = reference('{"driverName":"s3","claimData":{"key":"of/somebody"}}');
const noDriver = reference('{}');

const world = forAllTests(() => openWorld());

const service = () => world.client.session.connection.workflowService;
const pays = [{ calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] }, { text: '{{lastResult}}' }];

interface Waiting {
  run: RunInTest;
  decision: { requestId: string; approved: boolean };
}

async function waiting(): Promise<Waiting> {
  const run = await world.start(pays);
  return { run, decision: { requestId: (await run.open())[0]!.requestId, approved: true } };
}

const signal = (workflowId: string, signalName: string, args: Payload[], header: Record<string, Payload> = {}) =>
  service().signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    input: { payloads: args },
    header: { fields: header },
  });

const update = (workflowId: string, args: Payload[], header: Record<string, Payload> = {}) =>
  service().updateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    request: {
      meta: { updateId: randomUUID(), identity: 'poisoner' },
      input: { name: 'decide', args: { payloads: args }, header: { fields: header } },
    },
    waitPolicy: { lifecycleStage: stages.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED },
  });

const start = async (input: Payload): Promise<string> => {
  const workflowId = `poisoned-${randomUUID()}`;
  await service().startWorkflowExecution({
    namespace: 'default',
    workflowId,
    requestId: randomUUID(),
    workflowType: { name: 'agentRun' },
    taskQueue: { name: world.taskQueue },
    input: { payloads: [input] },
  });
  return workflowId;
};

describe('a reference that names a store', () => {
  test.each(['decide', 'noise'])('as the argument of signal %s: refused, and a valid decision works', async (name) => {
    const { run, decision } = await waiting();
    await signal(run.workflowId, name, [wellFormed]);
    await run.handle.signal('decide', decision);
    expect((await run.result()).output).toBe('paid 1 to x');
    expect((await run.status()).refused).toEqual({ last: [{ code: 'undecodable', size: 0 }], total: 1 });
  });

  test('in the header of a valid signal: the decision counts', async () => {
    const { run, decision } = await waiting();
    await signal(run.workflowId, 'decide', [json(decision)], { trace: wellFormed });
    expect((await run.result()).output).toBe('paid 1 to x');
  });

  test('as the argument of an update: refused with its code', async () => {
    const { run, decision } = await waiting();
    const { outcome } = await update(run.workflowId, [wellFormed]);
    expect(outcome?.failure?.applicationFailureInfo?.type).toBe('undecodable');
    await run.handle.signal('decide', decision);
    expect((await run.result()).output).toBe('paid 1 to x');
  });

  test('in the header of a valid update: the decision counts', async () => {
    const { run, decision } = await waiting();
    const { outcome } = await update(run.workflowId, [json(decision)], { trace: wellFormed });
    expect(outcome?.success).toBeTruthy();
    expect((await run.result()).output).toBe('paid 1 to x');
  });

  test('as the argument of a query: only that query fails', async () => {
    const { run } = await waiting();
    const query = service().queryWorkflow({
      namespace: 'default',
      execution: { workflowId: run.workflowId },
      query: { queryType: 'approvals', queryArgs: { payloads: [wellFormed] } },
    });
    await expect(query).rejects.toThrow('it is kept in external storage that is not configured here');
    expect(await run.open()).toHaveLength(1);
    await run.handle.terminate();
  });

  test('as the input of a run: it fails with one sentence', async () => {
    const workflowId = await start(wellFormed);
    await expect(world.client.run(workflowId).result()).rejects.toThrow(/: The run's input could not be decoded: .+$/);
  });

  test('in the memo of a run that claims to have approvals: the inbox still shows the others', async () => {
    const { run, decision } = await waiting();
    const stranger = `stranger-${randomUUID()}`;
    await service().startWorkflowExecution({
      namespace: 'default',
      workflowId: stranger,
      requestId: randomUUID(),
      workflowType: { name: 'nobodys' },
      taskQueue: { name: 'nobody' },
      memo: { fields: { approvals: wellFormed } },
      searchAttributes: {
        indexedFields: {
          ApprovalIds: {
            ...json([randomUUID()]),
            metadata: { encoding: Buffer.from('json/plain'), type: Buffer.from('KeywordList') },
          },
        },
      },
    });
    const { workflow } = world.client.session.client;
    await eventually('both are listed', async () => {
      const { count } = await workflow.count(
        `WorkflowId IN ('${stranger}', '${run.workflowId}') AND ApprovalIds IS NOT NULL`,
      );
      return count === 2;
    });
    const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
    expect(approvals.map(({ requestId }) => requestId)).toContain(decision.requestId);
    await workflow.getHandle(stranger).terminate();
    await run.handle.terminate();
  });
});

/** Current behaviour of `@temporalio/worker` 1.24.0, not what we want. */
describe("a reference without a store, or not in JSON, makes the run's task retry", () => {
  const failedTasks = async (workflowId: string): Promise<string[]> => {
    const { events } = await world.client.session.client.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? []);
  };
  const expectStuck = async (workflowId: string, message: string): Promise<void> => {
    await eventually('the task fails', async () => (await failedTasks(workflowId)).length > 0);
    expect((await failedTasks(workflowId))[0]).toContain(message);
    expect((await world.client.session.client.workflow.getHandle(workflowId).describe()).status.name).toBe('RUNNING');
  };
  const resetBefore = async (run: RunInTest): Promise<ApprovalRequest> => {
    const options = ['--type', 'LastWorkflowTask', '--reapply-exclude', 'All', '--reason', 'poison'];
    const { stdout } = await temporal(['workflow', 'reset', '--workflow-id', run.workflowId, ...options]);
    expect(stdout).toContain('Resetting');
    return (await run.open())[0]!;
  };

  test.each<[string, Payload, string]>([
    ['without a driver', noDriver, "'driverName' must be a non-empty string"],
    ['that is not JSON', reference('{bad'), 'JSON'],
  ])('%s, by signal: no decision is handled until the run is reset to before it', async (_name, payload, message) => {
    const { run, decision } = await waiting();
    await signal(run.workflowId, 'decide', [payload]);
    await expectStuck(run.workflowId, message);
    await run.handle.signal('decide', decision);
    const asked = await resetBefore(run);
    // The call is asked about again, under a new id.
    expect(asked.requestId).not.toBe(decision.requestId);
    expect(asked.digest).toHaveLength(64);
    await run.handle.signal('decide', { requestId: asked.requestId, approved: true });
    expect((await run.result()).output).toBe('paid 1 to x');
    expect(world.ran().filter((line) => line === 'pay x 1').length).toBeGreaterThan(0);
  });

  test('in a header: the same', async () => {
    const { run, decision } = await waiting();
    await signal(run.workflowId, 'decide', [json(decision)], { trace: noDriver });
    await expectStuck(run.workflowId, 'driverName');
    const asked = await resetBefore(run);
    await run.handle.signal('decide', { requestId: asked.requestId, approved: true });
    expect((await run.result()).output).toBe('paid 1 to x');
  });

  test('by update: the same, although it never enters history', async () => {
    const { run } = await waiting();
    void update(run.workflowId, [noDriver]).catch(() => undefined);
    await expectStuck(run.workflowId, 'driverName');
    const asked = await resetBefore(run);
    await run.handle.signal('decide', { requestId: asked.requestId, approved: true });
    expect((await run.result()).output).toBe('paid 1 to x');
  });

  test('as a query argument: only that query fails', async () => {
    const { run, decision } = await waiting();
    const query = service().queryWorkflow({
      namespace: 'default',
      execution: { workflowId: run.workflowId },
      query: { queryType: 'approvals', queryArgs: { payloads: [noDriver] } },
    });
    await expect(query).rejects.toThrow(/driverName/);
    await run.handle.signal('decide', decision);
    expect((await run.result()).output).toBe('paid 1 to x');
  });

  test('as the input of a run: the run never starts, and must be terminated', async () => {
    const workflowId = await start(noDriver);
    await expectStuck(workflowId, 'driverName');
    await world.client.session.client.workflow.getHandle(workflowId).terminate();
  });
});
