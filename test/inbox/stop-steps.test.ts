import { expect, test } from 'vitest';
import {
  type StopChoice,
  type StoppedRequest,
  stopResult,
  type StopStep,
  stopSteps,
} from '../../packages/gateway/src/inbox/run/stop-steps.ts';

/** What is sent to stop an agent, and what its receipts say. */

const request = (requestId: string, more: Partial<StoppedRequest> = {}): StoppedRequest => ({
  requestId,
  workflowId: 'run-1',
  digest: 'd',
  toolName: 'pay',
  sentence: 'Pay',
  waitsFor: 'you',
  ...more,
});
const all: StopChoice = { denies: true, deniesLater: true, run: 'cancel', reason: ' no ', id: 'k' };
const sent = (requests: StoppedRequest[], choice: Partial<StopChoice> = {}) =>
  stopSteps(requests, { ...all, ...choice }).map(({ kind, path }) => `${kind} ${path}`);

test('one denial of each tool covers later calls; the others come before it, and the stop of each run last', () => {
  const requests = [
    request('1'),
    request('2'),
    request('3', { toolName: 'wipe' }),
    request('4', { workflowId: 'run/2' }),
    request('5', { waitsFor: 'others', workflowId: 'run-3' }),
  ];
  expect(sent(requests)).toEqual([
    'deny /approvals/decide',
    'deny_later /approve/2?workflowId=run-1',
    'deny_later /approve/3?workflowId=run-1',
    'deny_later /approve/4?workflowId=run%2F2',
    'stop_run /runs/run-1/cancel',
    'stop_run /runs/run%2F2/cancel',
    'stop_run /runs/run-3/cancel',
  ]);
  const [first, second] = stopSteps(requests, all);
  expect(first).toMatchObject({ key: 'k-0', body: { requests: [{ requestId: '1' }], approved: false, reason: 'no' } });
  expect(second!.body).toMatchObject({ approved: false, always: { kind: 'tool' }, digest: 'd', reason: 'no' });
});

test.each<[Partial<StopChoice>, string[]]>([
  [{ deniesLater: false, run: 'goes_on' }, ['deny /approvals/decide']],
  [{ denies: false, run: 'close' }, ['stop_run /runs/run-1/close']],
  [{ denies: false, run: 'goes_on' }, []],
])('the choice %j sends %j', (choice, expected) => {
  expect(sent([request('1')], choice)).toEqual(expected);
});

const step = (kind: StopStep['kind']): StopStep => ({ kind, path: '', body: {}, key: '', about: 'pay' });
const receipt = { requestId: '1', accepted: true, message: 'fine' };

test.each([
  [step('deny'), [receipt, { ...receipt, accepted: false, message: 'late' }], false, '1 denied. Not denied: 1 (late).'],
  [step('deny'), [{ ...receipt, recorded: true as const }], true, '1 denied. Recorded: the next worker applies it.'],
  [step('deny_later'), [{ ...receipt, grantId: 'grant-1' }], true, 'Later calls of pay in this run are denied too'],
  [step('deny_later'), [{ ...receipt, grantId: 'g', message: '; g (call), narrowed' }], false, 'only this very call'],
  [step('deny_later'), [receipt], false, 'Later calls of pay are not denied: fine.'],
  [step('deny_later'), [{ ...receipt, recorded: true as const }], true, 'the next worker applies it'],
  [step('stop_run'), [receipt], true, 'fine'],
])('the result of %j', (of, receipts, isGood, text) => {
  expect(stopResult(of, receipts)).toEqual({ isGood, text: expect.stringContaining(text) });
});
