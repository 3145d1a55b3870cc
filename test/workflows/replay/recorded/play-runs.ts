/** Helpers that play the recorded runs. */
import type { ApprovalRequest, Receipt } from '../../../../src/contract.ts';
import { eventually } from '../../../support/eventually.ts';
import type { RunInTest, Turns, World, WorldOptions } from '../../../support/world.ts';

export interface RecordedRun {
  name: string;
  /** Brings a run to the point at which its history is taken. With `waiting`, the run is still open then. */
  play: (world: World) => Promise<RunInTest>;
  waiting?: true;
  world?: WorldOptions | (() => Promise<WorldOptions>);
}

/** Whether a file of `test/histories` holds an execution of this run, recorded with any version. */
export function isHistoryOf(file: string, { name, waiting }: RecordedRun): boolean {
  const whole = `${waiting ? 'waiting-' : ''}${name}`;
  const withoutVersion = file.replace(/^\d+\.\d+\.\d+-/, '');
  return withoutVersion === `${whole}.json` || withoutVersion.startsWith(`${whole}-execution-`);
}

export const pay = (amount = 1, to = 'ann') => ({ tool: 'pay', args: { to, amount } });
export const once = (...calls: object[]): Turns => [{ calls }, { text: '{{lastResult}}' }] as Turns;

export const yes = ({ requestId }: ApprovalRequest) => ({ requestId, approved: true });
export const no = ({ requestId }: ApprovalRequest, reason?: string) => ({ requestId, approved: false, reason });

export async function finished(run: RunInTest): Promise<RunInTest> {
  await run.handle.result().catch(() => undefined);
  return run;
}

/** Sends the message as an update and returns the answer. */
export function ask(run: RunInTest, name: string, message: object): Promise<Receipt> {
  return run.handle.executeUpdate<Receipt, [object]>(name, { args: [message] });
}

/** Sends decisions of an unknown request until the run has `executions` executions. */
export async function continuedAsNew(
  { client }: World,
  { handle, workflowId }: RunInTest,
  executions = 2,
): Promise<void> {
  await eventually(`execution ${executions} of ${workflowId}`, async () => {
    await handle.signal('decide', { requestId: 'unknown', approved: true });
    return (await client.historyChain(workflowId)).executions.length >= executions;
  });
}

/**
 * Waits for at least one more task: a replay checks the commands of an execution's first task only if events follow
 * them.
 */
export async function oneTaskMore({ client }: World, { handle, workflowId }: RunInTest): Promise<void> {
  const tasks = async (): Promise<number> => {
    const { executions } = await client.historyChain(workflowId);
    return executions.at(-1)!.events.filter((event) => event.workflowTaskCompletedEventAttributes != null).length;
  };
  const before = await tasks();
  await eventually('a task more', async () => {
    await handle.signal('noise');
    return (await tasks()) > before;
  });
}
