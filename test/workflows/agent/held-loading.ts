import { activityInfo } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import type { WorkerInterceptors } from '@temporalio/worker';
import { activityNames } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';

/** Keeps `countersign.loadAgent` of a worker from ending, so that tests can send messages meanwhile. */
export class HeldLoading {
  #held = Promise.resolve();
  release = (): void => {};

  /** Holds every load from now on, until `release`. */
  hold(): void {
    this.#held = new Promise((resolve) => (this.release = resolve));
  }

  readonly interceptors: WorkerInterceptors = {
    activity: [
      () => ({
        inbound: {
          execute: async (input, next) => {
            if (activityInfo().activityType === activityNames.loadAgent) await this.#held;
            return next(input);
          },
        },
      }),
    ],
  };
}

/** Sends a signal and waits until a workflow task has brought it to the run. */
export async function signalled(handle: WorkflowHandle, name: string, ...args: unknown[]): Promise<void> {
  await handle.signal(name, ...args);
  await eventually(`the run has received ${name}`, async () => {
    const kinds = ((await handle.fetchHistory()).events ?? []).map(
      ({ workflowExecutionSignaledEventAttributes: sent, workflowTaskCompletedEventAttributes: completed }) =>
        sent != null ? 'sent' : completed != null && 'completed',
    );
    return kinds.lastIndexOf('completed') > kinds.lastIndexOf('sent');
  });
}
