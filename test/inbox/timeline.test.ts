import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { RawResponseEvent, RecordedEvent } from '../../src/events/run-event.ts';
import {
  decisionsOf,
  emptyTimeline,
  withEvents,
  withoutWriting,
} from '../../packages/gateway/src/inbox/run/timeline.ts';

const at = '2030-01-01T00:00:00.000Z';
const message = (id: string, role: 'user' | 'assistant' = 'user') =>
  ({ type: 'RunItemEvent', workflowId: 'w', id, at, item: { type: 'message', role, content: id } }) as RecordedEvent;
const part = (offset: number, delta: string, turn = 1): RawResponseEvent => ({
  type: 'RawResponseEvent',
  workflowId: 'w',
  at,
  turn,
  offset,
  delta,
});

test('for any repeats and any cuts into parts, each event is there once and in order', () => {
  const all = Array.from({ length: 30 }, (_, index) => message(`${index}`));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(30), fc.nat(30))), (streams) => {
      let timeline = emptyTimeline;
      for (const [back, length] of [...streams, [30, 30]]) {
        // A stream that is opened again begins anywhere at or before the next event.
        const from = Math.max(0, timeline.events.length - back!);
        timeline = withEvents(timeline, all.slice(from, from + length!));
      }
      timeline = withEvents(timeline, all.slice(timeline.events.length));
      expect(timeline.events).toEqual(all);
      expect(timeline.lastId).toBe('29');
    }),
  );
});

test.each<[string, RawResponseEvent[], object | undefined]>([
  ['parts that follow each other', [part(0, 'Hel'), part(3, 'lo')], { before: 0, text: 'Hello' }],
  ['a retry starts over', [part(0, 'Hel'), part(0, 'Hi')], { before: 0, text: 'Hi' }],
  ['text that was missed', [part(0, 'Hel'), part(9, 'world')], { before: 9, text: 'world' }],
  ['a viewer who comes late', [part(500, 'end')], { before: 500, text: 'end' }],
  ['another turn', [part(0, 'Hel'), part(3, 'lo', 2)], { turn: 2, before: 3, text: 'lo' }],
])('what the model writes: %s', (_, parts, writing) => {
  expect(withEvents(emptyTimeline, parts).writing).toMatchObject(writing!);
  expect(withEvents(withEvents(emptyTimeline, parts.slice(0, 1)), parts.slice(1)).writing).toMatchObject(writing!);
});

test('the answer takes the place of what was being written; other events do not', () => {
  const writing = withEvents(emptyTimeline, [part(0, 'Hel')]);
  expect(withEvents(writing, [message('1')]).writing).toBeDefined();
  expect(withEvents(writing, [message('1', 'assistant')]).writing).toBeUndefined();
  expect(withoutWriting(writing)).toEqual(emptyTimeline);
});

test('a long run keeps its newest events, and counts the others', () => {
  const all = Array.from({ length: 3_010 }, (_, index) => message(`${index}`));
  const timeline = withEvents(withEvents(emptyTimeline, all.slice(0, 5)), all.slice(5));
  expect(timeline.events).toHaveLength(3_000);
  expect(timeline.events.at(-1)).toBe(all.at(-1));
  expect(timeline.dropped).toBe(10);
});

test('requests are paired with their results, in the order of the requests', () => {
  const request = (requestId: string) =>
    ({ type: 'ApprovalRequestEvent', requestId, id: `q${requestId}` }) as RecordedEvent;
  const result = (requestId: string) =>
    ({ type: 'ApprovalResultEvent', requestId, id: `a${requestId}` }) as RecordedEvent;
  const decisions = decisionsOf([request('1'), request('2'), result('2'), result('3')]);
  expect(decisions.map(({ request: { requestId }, result }) => [requestId, result?.id])).toEqual([
    ['1', undefined],
    ['2', 'a2'],
  ]);
});

test('whether a tool ran is known when it has ended', () => {
  const request = { type: 'ApprovalRequestEvent', requestId: '1', callId: '1.1', id: 'q' } as RecordedEvent;
  const result = { type: 'ApprovalResultEvent', requestId: '1', ran: 'pending', id: 'a' } as RecordedEvent;
  const end = { ...message('e'), item: { type: 'tool_result', callId: '1.1', ran: 'unknown' } } as RecordedEvent;
  expect(decisionsOf([request, result])[0]!.ran).toBe('pending');
  expect(decisionsOf([request, result, end])[0]!.ran).toBe('unknown');
});
