import { afterAll, describe, expect, test } from 'vitest';
import { interceptors } from '../../../src/workflows/interceptors.ts';
import { activations } from '../../../src/workflows/sandbox/activation.ts';

/**
 * A refused update is a job that a replay does not see. The run must do the same without it (I12). On the real server:
 * refused-updates.test.ts and merged-tasks.test.ts.
 */

type Job = Record<string, object>;
const update: Job = { doUpdate: { id: 'u' } };
const signal: Job = { signalWorkflow: { signalName: 'stray' } };
const resolved: Job = { resolveActivity: { seq: 1 } };
const timer: Job = { fireTimer: { seq: 2 } };
const begun: Job = { initializeWorkflow: { workflowType: 'agentRun' } };

// As within a run, which has its own state.
Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: { info: { workflowType: 'agentRun' } } });
// The next files of this process run workers.
afterAll(() => Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: undefined }));
const interceptor = interceptors().internals![0]!;

/** The jobs that the SDK receives, and whether the gate waits meanwhile and continues afterwards. */
function handed(jobs: Job[]): { names: string[]; waits: boolean } {
  let names: string[] = [];
  let isWaiting = false;
  interceptor.activate!({ activation: { jobs: [...jobs] }, batchIndex: 0 }, (input) => {
    names = input.activation.jobs!.map((job) => Object.keys(job)[0]!);
    isWaiting = activations().isBeingHandedOver;
  });
  expect(activations().isBeingHandedOver).toBe(false);
  return { names, waits: isWaiting };
}

test('outside of a run there is no state', () => {
  const activator = (globalThis as Record<string, unknown>)['__TEMPORAL_ACTIVATOR__'];
  Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: undefined });
  expect(() => activations().number).toThrow("'activations' belongs to a run, and there is none here");
  Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: activator });
});

describe('updates come last, and the gate waits until all jobs are handed over', () => {
  test.each<[string, Job[], string[], boolean]>([
    ['an update alone', [update], ['doUpdate'], true],
    ['two of them', [update, update], ['doUpdate', 'doUpdate'], true],
    ['before an activity', [update, resolved], ['resolveActivity', 'doUpdate'], true],
    [
      'among others',
      [signal, update, resolved, update, timer],
      ['signalWorkflow', 'resolveActivity', 'fireTimer', 'doUpdate', 'doUpdate'],
      true,
    ],
    ['in the first activation', [begun, update, signal], ['initializeWorkflow', 'signalWorkflow', 'doUpdate'], true],
    ['none', [signal, timer], ['signalWorkflow', 'fireTimer'], true],
    ['a query changes nothing', [{ queryWorkflow: { queryId: 'q' } }], ['queryWorkflow'], false],
  ])('%s', (_name, jobs, names, waits) => {
    expect(handed(jobs)).toEqual({ names, waits });
  });
});
