/** Two workers: ours, and one for hand-written workflows with the same model and the same tools. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { z } from 'zod';
import { createCallModel } from '../src/activities/call-model.ts';
import { defineAgent } from '../src/agents/define-agent.ts';
import { defineTool } from '../src/agents/define-tool.ts';
import { createRegistry } from '../src/agents/registry.ts';
import type { CountersignClient } from '../src/client/countersign-client.ts';
import { createClient } from '../src/client/client.ts';
import type { RunInput } from '../src/contract.ts';
import { type ScriptedTurn, scriptedModel } from '../src/models/scripted.ts';
import { type WorkerOptions, createWorker } from '../src/worker.ts';
import type { BareInput } from './bare-workflows.ts';

export type BareVariant = 'bareRun' | 'bareGatedRun';

export interface Stage {
  client: CountersignClient;
  /** Starts a run of the script with this name on our worker; `startBare` starts its hand-written counterpart. */
  startOurs(script: string, input?: Partial<RunInput>): Promise<WorkflowHandle>;
  startBare(variant: BareVariant, script: string, input?: Partial<BareInput>): Promise<WorkflowHandle>;
  close(): Promise<void>;
}

export interface StageOptions {
  address: string;
  /** The model's turns, by the user's message that starts the run. Tools: `look` (read only), `pay` (asked). */
  scripts: Record<string, ScriptedTurn[]>;
  workflowBundle?: WorkerOptions['workflowBundle'];
}

export async function openStage({ address, scripts, workflowBundle }: StageOptions): Promise<Stage> {
  const suffix = randomUUID();
  const look = defineTool({
    name: 'look',
    description: 'Looks at something.',
    input: z.object({ what: z.string() }),
    risk: 'read_only',
    execute: ({ what }) => `saw ${what}`,
  });
  const pay = defineTool({
    name: 'pay',
    description: 'Pays money.',
    input: z.object({ to: z.string(), amount: z.number() }),
    execute: ({ to, amount }) => `paid ${amount} to ${to}`,
  });
  const agent = defineAgent({
    name: 'bench',
    instructions: 'Play your script.',
    model: scriptedModel({ default: [], ...scripts }),
    tools: [look, pay],
  });
  const client = await createClient({ address, taskQueue: `ours-${suffix}` });
  const ours = await createWorker({
    address,
    taskQueue: `ours-${suffix}`,
    agents: [agent],
    shutdownGraceTime: 500,
    logLevel: 'ERROR',
    ...(workflowBundle === undefined ? {} : { workflowBundle }),
  });
  const bareQueue = `bare-${suffix}`;
  const connection = await NativeConnection.connect({ address });
  const bare = await Worker.create({
    connection,
    taskQueue: bareQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./bare-workflows.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    }),
    activities: {
      callModel: createCallModel(createRegistry({ agents: [agent] })),
      look: ({ what }: { what: string }) => `saw ${what}`,
      pay: ({ to, amount }: { to: string; amount: number }) => `paid ${amount} to ${to}`,
    },
    shutdownGraceTime: 500,
  });
  const running = Promise.all([ours.run(), bare.run()]);
  const { workflow } = client.session.client;
  return {
    client,
    startOurs: (script, input = {}) =>
      workflow.start('agentRun', {
        workflowId: `ours-${randomUUID()}`,
        taskQueue: `ours-${suffix}`,
        args: [{ agent: 'bench', input: script, ...input }],
      }),
    startBare: (variant, script, input = {}) => {
      const whole: BareInput = {
        agent: agent.name,
        instructions: agent.instructions,
        tools: agent.tools.map(({ name, description, schema }) => ({ name, description, schema })),
        input: script,
        asked: ['pay'],
        timeoutMs: 300_000,
        ...input,
      };
      return workflow.start(variant, { workflowId: `bare-${randomUUID()}`, taskQueue: bareQueue, args: [whole] });
    },
    close: async () => {
      ours.shutdown();
      bare.shutdown();
      await running;
      await connection.close();
      await client.close();
    },
  };
}
