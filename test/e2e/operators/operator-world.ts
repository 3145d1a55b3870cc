import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ran } from '../../../src/core/ledger/approval.ts';
import { eventually } from '../../support/eventually.ts';
import { operatorAgent } from './operator-agent.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** A world with the tools of `operatorAgent`, and runs in the states in which an operator steps in. */
export interface OperatorWorld extends World {
  /** A run that waits for a decision about one call. The tool returns at once when it runs. */
  waiting(tool: string, name: string): Promise<{ run: RunInTest; requestId: string }>;
  /** A run whose tool is scheduled but cannot start before `freeSlot`: another tool occupies the worker's only slot. */
  scheduled(tool: string, name: string): Promise<RunInTest>;
  freeSlot(name: string): void;
  /** A run whose tool has started. */
  running(tool: string, name: string): Promise<RunInTest>;
  /** How many times the tool has started. */
  starts(name: string): number;
  release(name: string): void;
  breakIt(name: string): void;
}

export async function openOperatorWorld(): Promise<OperatorWorld> {
  const world = await openWorld({ agentsIn: (folder) => [operatorAgent(folder)] });
  const write = (file: string): void => writeFileSync(join(world.folder, file), '');
  const turns = (tool: string, name: string) => [{ calls: [{ tool, args: { name } }] }, { text: '{{lastResult}}' }];
  const policy = { version: 1, rules: [{ pattern: 'hold*', action: 'allow' }] };
  const starts = (name: string): number => world.ran().filter((line) => line === `start ${name}`).length;
  const release = (name: string): void => write(`release-${name}`);
  const running: OperatorWorld['running'] = async (tool, name) => {
    const run = await world.start(turns(tool, name), { policy });
    await eventually(`${name} starts`, () => starts(name) === 1);
    return run;
  };
  const waiting: OperatorWorld['waiting'] = async (tool, name) => {
    release(name);
    const run = await world.start(turns(tool, name), {
      policy: { version: 1, rules: [{ pattern: '*', action: 'ask' }] },
    });
    const [request] = await run.open();
    return { run, requestId: request!.requestId };
  };
  return {
    ...world,
    waiting,
    scheduled: async (tool, name) => {
      const { run, requestId } = await waiting(tool, name);
      await world.stopWorker();
      await world.startWorker({ maxConcurrentActivityTaskExecutions: 1 });
      await running('hold_on', `slot of ${name}`);
      await world.client.decide({ requestId, approved: true }, { workflowId: run.workflowId });
      return run;
    },
    freeSlot: (name) => release(`slot of ${name}`),
    running,
    starts,
    release,
    breakIt: (name) => write(`break-${name}`),
  };
}

/** What the model was told about the call, and whether it ran. */
export async function ended(run: RunInTest): Promise<{ output: unknown; ran: Ran }> {
  const { output, outcomes } = await run.result();
  return { output, ran: outcomes[0]!.ran };
}
