import { describe, expect, test } from '@jest/globals';
import { activation, interceptors } from '../../src/workflows/activation.ts';

/**
 * A refused update is a job that a replay does not find. What the run does must be the same without it: it is not woken
 * because of it, and nothing goes on in another order (I12). On the real server: refused-updates.test.ts.
 */

type Job = Record<string, object>;
const update: Job = { doUpdate: { id: 'u' } };
const signal: Job = { signalWorkflow: { signalName: 'stray' } };
const resolved: Job = { resolveActivity: { seq: 1 } };
const timer: Job = { fireTimer: { seq: 2 } };
const begun: Job = { initializeWorkflow: { workflowType: 'agentRun' } };

// As within a run: its state is the run's (of-this-run.ts).
Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: {} });
const interceptor = interceptors().internals![0]!;

/** What the SDK is handed, and how often those were called who look at the clock. */
function handed(jobs: Job[]): { names: string[]; looks: number } {
  let looks = 0;
  let names: string[] = [];
  activation.onStart(() => (looks += 1));
  interceptor.activate!({ activation: { jobs: [...jobs] }, batchIndex: 0 }, (input) => {
    names = input.activation.jobs!.map((job) => Object.keys(job)[0]!);
  });
  return { names, looks };
}

test('outside of a run there is no state', () => {
  const activator = (globalThis as Record<string, unknown>)['__TEMPORAL_ACTIVATOR__'];
  Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: undefined });
  expect(() => activation.number).toThrow("'activations' belongs to a run, and there is none here");
  Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: activator });
});

describe('updates come last, and alone they wake nobody', () => {
  test.each<[string, Job[], string[], number]>([
    ['an update alone', [update], ['doUpdate'], 0],
    ['two of them', [update, update], ['doUpdate', 'doUpdate'], 0],
    ['before an activity', [update, resolved], ['resolveActivity', 'doUpdate'], 1],
    [
      'among others',
      [signal, update, resolved, update, timer],
      ['signalWorkflow', 'resolveActivity', 'fireTimer', 'doUpdate', 'doUpdate'],
      1,
    ],
    ['in the first activation', [begun, update, signal], ['initializeWorkflow', 'signalWorkflow', 'doUpdate'], 1],
    ['none', [signal, timer], ['signalWorkflow', 'fireTimer'], 1],
    ['a query', [{ queryWorkflow: { queryId: 'q' } }], ['queryWorkflow'], 0],
  ])('%s', (_name, jobs, names, looks) => {
    expect(handed(jobs)).toEqual({ names, looks });
  });
});
