import { randomUUID } from 'node:crypto';
import proto, { type temporal } from '@temporalio/proto';
import type { RunInTest, World } from '../../support/world.ts';

/** Sends exact bytes, as any client may. The SDK's clients write only JSON that all parsers read alike. */

type Payload = temporal.api.common.v1.IPayload;
const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: completed } =
  proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;

export function jsonPayload(json: string | Uint8Array): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(json) };
}

export type Json = string | Uint8Array;

/** Signals, updates, queries and starts with one argument, given as JSON text or bytes. */
export function rawMessages(world: World) {
  const service = world.client.session.connection.workflowService;
  const execution = ({ workflowId }: RunInTest) => ({ workflowId });
  return {
    signal: (run: RunInTest, signalName: string, json: Json) =>
      service.signalWorkflowExecution({
        namespace: 'default',
        workflowExecution: execution(run),
        signalName,
        input: { payloads: [jsonPayload(json)] },
      }),
    /** The code and message of the failure; both undefined if the update was accepted. */
    update: async (run: RunInTest, name: string, json: Json) => {
      const { outcome } = await service.updateWorkflowExecution({
        namespace: 'default',
        workflowExecution: execution(run),
        request: {
          meta: { updateId: randomUUID(), identity: 'raw-messages' },
          input: { name, args: { payloads: [jsonPayload(json)] } },
        },
        waitPolicy: { lifecycleStage: completed },
      });
      const { failure } = outcome ?? {};
      return { code: failure?.applicationFailureInfo?.type, message: failure?.message };
    },
    query: (run: RunInTest, queryType: string, json: Json) =>
      service.queryWorkflow({
        namespace: 'default',
        execution: execution(run),
        query: { queryType, queryArgs: { payloads: [jsonPayload(json)] } },
      }),
    start: async (json: Json) => {
      const workflowId = `run-${randomUUID()}`;
      await service.startWorkflowExecution({
        namespace: 'default',
        workflowId,
        requestId: randomUUID(),
        workflowType: { name: 'agentRun' },
        taskQueue: { name: world.taskQueue },
        input: { payloads: [jsonPayload(json)] },
      });
      return world.run(workflowId);
    },
  };
}
