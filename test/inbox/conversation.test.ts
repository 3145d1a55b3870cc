import { expect, test } from 'vitest';
import type { RecordedEvent, RunItem } from '../../src/events/run-event.ts';
import { type Call, conversationOf } from '../../packages/gateway/src/inbox/run/conversation.ts';
import { callState } from '../../packages/gateway/src/inbox/run/call-state.ts';

/** What the page of a run makes of its events. */

const at = '2030-01-01T00:00:00.000Z';
const event = (id: string, of: object): RecordedEvent => ({ workflowId: 'w', id, at, ...of }) as RecordedEvent;
const item = (id: string, of: RunItem): RecordedEvent => event(id, { type: 'RunItemEvent', item: of });
const says = (id: string, role: 'user' | 'assistant', content: string, agentName?: string): RecordedEvent =>
  item(id, { type: 'message', role, content, ...(agentName !== undefined && { agentName }) });
const calls = (id: string, callId: string, toolName = 'pay'): RecordedEvent =>
  item(id, { type: 'tool_call', callId, toolName, arguments: { to: 'bob' } });
const results = (id: string, callId: string, more: object = {}): RecordedEvent =>
  item(id, { type: 'tool_result', callId, toolName: 'pay', content: 'paid', isError: false, ran: 'yes', ...more });
const asks = (id: string, callId: string, requestId = 'r'): RecordedEvent =>
  event(id, { type: 'ApprovalRequestEvent', requestId, callId, toolName: 'pay' });
const decides = (id: string, callId: string, decision: string, more: object = {}): RecordedEvent =>
  event(id, {
    type: 'ApprovalResultEvent',
    requestId: 'r',
    callId,
    toolName: 'pay',
    decision,
    reason: null,
    reviewerId: 'ann',
    identity: 'verified',
    ran: decision === 'approved' ? 'pending' : 'no',
    ...more,
  });
const ends = (id: string, status: string, output = ''): RecordedEvent =>
  event(id, { type: 'RunCompleteEvent', status, output });

/** The entries in short: who, what, and the calls with their states. */
const shortOf = (events: RecordedEvent[], agent?: string): string[] => {
  const isOver = events.at(-1)?.type === 'RunCompleteEvent';
  return conversationOf(events, agent).map((entry) => {
    switch (entry.kind) {
      case 'user':
        return `user: ${entry.item.content}`;
      case 'agent': {
        const called = entry.calls.map((call) => ` [${call.toolName}: ${callState(call, isOver).text}]`);
        return `${entry.agent ?? '?'}: ${entry.item?.content ?? ''}${called.join('')}`;
      }
      case 'reviewer':
        return `${entry.result.reviewerId}: ${entry.result.reason}`;
      case 'note':
        return entry.about.type;
      case 'end':
        return `${entry.end.status}${entry.isRepeated ? '' : ` ${entry.end.output}`}`;
    }
  });
};

test('a request names the agent of a turn without a text', () => {
  const named = { ...asks('x.10.0', '1.1'), agentName: 'clerk' } as RecordedEvent;
  const events = [says('x.1.0', 'user', 'Pay.'), calls('x.9.0', '1.1'), named];
  expect(shortOf(events)).toEqual(['user: Pay.', 'clerk:  [pay: waiting for approval]']);
  const unknown = asks('x.10.0', '1.1');
  const again = { ...unknown, replaces: { by: 'unknown' } } as RecordedEvent;
  expect(shortOf([calls('x.9.0', '1.1'), unknown, decides('x.11.0', '1.1', 'approved'), again])).toEqual([
    '?:  [pay: approved by ann · it may have run, waiting for approval]',
  ]);
});

test('calls stand under the message of their turn, whenever their decisions and results come', () => {
  const events = [
    says('x.1.0', 'user', 'Pay both.'),
    says('x.9.0', 'assistant', 'I pay.', 'desk'),
    calls('x.9.1', '1.1'),
    calls('x.9.2', '1.2'),
    asks('x.10.0', '1.1'),
    results('x.12.0', '1.2'),
    decides('x.15.0', '1.1', 'approved'),
    results('x.19.0', '1.1'),
    says('x.24.0', 'assistant', 'Paid.', 'desk'),
    ends('x.25.0', 'completed', 'Paid.'),
  ];
  expect(shortOf(events.slice(0, 6))).toEqual([
    'user: Pay both.',
    'desk: I pay. [pay: waiting for approval] [pay: ran]',
  ]);
  expect(shortOf(events)).toEqual([
    'user: Pay both.',
    'desk: I pay. [pay: approved by ann · ran] [pay: ran]',
    'desk: Paid.',
    'completed',
  ]);
});

test('what a reviewer writes is a message, and the call says only the decision', () => {
  const reason = 'Not this customer';
  expect(
    shortOf([
      says('x.9.0', 'assistant', 'I pay.', 'desk'),
      calls('x.9.1', '1.1'),
      asks('x.10.0', '1.1'),
      decides('x.15.0', '1.1', 'denied', { reason }),
      results('x.16.0', '1.1', { ran: 'no', isError: true }),
      says('x.24.0', 'assistant', 'I did not.', 'desk'),
    ]),
  ).toEqual(['desk: I pay. [pay: denied by ann]', `ann: ${reason}`, 'desk: I did not.']);
});

test('turns without a text, handoffs, and calls whose beginning is gone keep their agent', () => {
  expect(
    shortOf(
      [
        results('x.8.0', '0.1'),
        calls('x.9.0', '1.1'),
        calls('x.12.0', '2.1'),
        item('x.14.0', { type: 'handoff', from: 'desk', to: 'billing' }),
        item('x.15.0', { type: 'tool_call', callId: '3.1', toolName: 'clerk' }),
        item('x.16.0', { type: 'nested_run', callId: '3.1', workflowId: 'w/3.1' }),
        item('x.17.0', { type: 'turn_ended', turn: 3 }),
        item('x.18.0', { type: 'turn_ended', turn: 4, stopped: true }),
        ends('x.20.0', 'closed', 'so far'),
      ],
      'desk',
    ),
  ).toEqual([
    'desk:  [pay: ran]',
    'desk:  [pay: no result]',
    'desk:  [pay: no result]',
    'handoff',
    'billing:  [clerk: no result]',
    'turn_ended',
    'closed so far',
  ]);
});

test('only what users wrote before a run that did not begin is marked so', () => {
  const hello = says('x.1.0', 'user', '[REDACTED]');
  const marks = (events: RecordedEvent[]): boolean[] =>
    conversationOf(events).flatMap((entry) => (entry.kind === 'user' ? [entry.isBeforeStart] : []));
  expect(marks([hello])).toEqual([false]);
  expect(marks([hello, ends('x.5.0', 'failed')])).toEqual([true]);
  expect(marks([hello, ends('x.5.0', 'cancelled')])).toEqual([false]);
  expect(marks([hello, says('x.3.0', 'assistant', 'Hi'), ends('x.5.0', 'failed')])).toEqual([false]);
});

const called = (...events: RecordedEvent[]): Call => {
  const [entry] = conversationOf([calls('x.9.0', '1.1'), ...events]);
  if (entry?.kind !== 'agent') throw new Error('no message');
  return entry.calls[0]!;
};
const asked = asks('x.10.0', '1.1');

test.each<[string, string, RecordedEvent[]]>([
  ['running', 'plain', []],
  ['waiting for approval', 'asks', [asked]],
  ['approved by ann · running', 'plain', [asked, decides('x.11.0', '1.1', 'approved')]],
  [
    'approved by ann (claimed name) · running',
    'plain',
    [asked, decides('x.11.0', '1.1', 'approved', { identity: 'claimed' })],
  ],
  [
    'approved by ann · failed',
    'bad',
    [asked, decides('x.11.0', '1.1', 'approved'), results('x.12.0', '1.1', { isError: true })],
  ],
  [
    'expired: no decision in time – the deadline passed',
    'bad',
    [
      asked,
      decides('x.11.0', '1.1', 'expired', { reviewerId: null, identity: undefined, reason: 'the deadline passed' }),
    ],
  ],
  [
    'answered in the place of the tool by ann',
    'plain',
    [asked, decides('x.11.0', '1.1', 'responded'), results('x.12.0', '1.1', { ran: 'no' })],
  ],
  [
    'settled by an edit by ann · waiting for approval',
    'asks',
    [asked, decides('x.11.0', '1.1', 'superseded', { by: 'edit', byId: 's' }), asks('x.12.0', '1.1', 's')],
  ],
  ['did not run', 'bad', [results('x.12.0', '1.1', { ran: 'no', isError: true })]],
  ['it is unknown whether it ran', 'bad', [results('x.12.0', '1.1', { ran: 'unknown', isError: true })]],
  ['ran, its result is withheld from the model', 'bad', [results('x.12.0', '1.1', { withheld: true })]],
  ['did not run again: the result of call 0.1', 'plain', [results('x.12.0', '1.1', { ran: 'no', resultOf: '0.1' })]],
])('a call: %s', (text, tone, events) => {
  expect(callState(called(...events), false)).toEqual({ text, tone });
});

test('when the run has ended, an open call waits no more', () => {
  expect(callState(called(), true).text).toBe('no result');
  expect(callState(called(asked), true).text).toBe('not answered');
});
