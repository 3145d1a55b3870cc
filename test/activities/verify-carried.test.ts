import { describe, expect, test } from 'vitest';
import proto from '@temporalio/proto';
import type { RecordedPast } from '../../src/activities/verify-carried.ts';
import { pastProblem } from '../../src/activities/verify-carried.ts';

/**
 * The verdict on what the server recorded of an execution and the one before it. For the rest, see
 * workflows/forged-past.
 */

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const inputOf = (data: string) => ({ payloads: [{ metadata: { encoding: bytes('json/plain') }, data: bytes(data) }] });
const { CONTINUE_AS_NEW_INITIATOR_WORKFLOW: byWorkflow } = proto.temporal.api.enums.v1.ContinueAsNewInitiator;
const start: RecordedPast['started'] = {
  initiator: byWorkflow,
  originalExecutionRunId: 'second',
  continuedExecutionRunId: 'first',
  workflowType: { name: 'agentRun' },
  taskQueue: { name: 'countersign' },
  input: inputOf('{}'),
};
const begun = { workflowType: { name: 'agentRun' }, taskQueue: { name: 'countersign' } };
const continued = { newExecutionRunId: 'second', input: inputOf('{}') };
const genuine = { runId: 'second', started: start, before: { started: begun, continued } } satisfies RecordedPast;

test('an execution that the previous one continued as, with the same bytes: no problem', () => {
  expect(pastProblem(genuine)).toBeUndefined();
  const buffer = { payloads: [{ data: Buffer.from('{}'), metadata: { encoding: Buffer.from('json/plain') } }] };
  expect(pastProblem({ ...genuine, started: { ...start, input: buffer } })).toBeUndefined();
});

const startedWith = (change: object): RecordedPast => ({ ...genuine, started: { ...start, ...change } });
const beforeWith = (change: object): RecordedPast => ({ ...genuine, before: { ...genuine.before, ...change } });

describe('refused', () => {
  test.each<[string, RecordedPast, RegExp]>([
    ['a retry', startedWith({ initiator: 2 }), /is a retry/],
    ['a cron run', startedWith({ initiator: 3 }), /Temporal schedule/],
    ['no initiator', startedWith({ initiator: 0 }), /not started by continue-as-new/],
    ['an unknown initiator', startedWith({ initiator: 4 }), /not started by continue-as-new/],
    ['nothing continued', startedWith({ continuedExecutionRunId: '' }), /not started by continue-as-new/],
    ['nothing recorded', { runId: 'second', started: {} }, /not started by continue-as-new/],
    ['a reset', startedWith({ originalExecutionRunId: 'base' }), /was reset/],
    ['a past that retention removed', { runId: 'second', started: start }, /no longer in the history/],
    ['an execution before it that ended otherwise', beforeWith({ continued: undefined }), /did not continue as this/],
    [
      'an execution before it that continued as another',
      beforeWith({ continued: { ...continued, newExecutionRunId: 'other' } }),
      /did not continue as this/,
    ],
    ['another type', beforeWith({ started: { ...begun, workflowType: { name: 'other' } } }), /same type/],
    ['another task queue', beforeWith({ started: { ...begun, taskQueue: { name: 'other' } } }), /same task queue/],
    ['other bytes', startedWith({ input: inputOf('[]') }), /not those/],
    ['other metadata', startedWith({ input: { payloads: [{ data: bytes('{}') }] } }), /not those/],
    ['more arguments', startedWith({ input: { payloads: [...inputOf('{}').payloads, {}] } }), /not those/],
    ['no arguments', startedWith({ input: null }), /not those/],
  ])('%s', (_name, past, sentence) => {
    expect(pastProblem(past)).toMatch(sentence);
  });
});
