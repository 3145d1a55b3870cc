import { describe, expect, test } from 'vitest';
import type { RecordedEvent, RunItem } from '../../src/events/run-event.ts';
import { cardChange } from '../../src/card/card-change.ts';
import { noBounds } from '../../src/card/cut-text.ts';
import { drawnLines } from '../../packages/gateway/src/inbox/request/diff-lines.ts';
import { callingAgent, callsText, pastOf } from '../../packages/gateway/src/inbox/request/run-past.ts';

/** What the page of a request says before its arguments, and how it draws a difference. */

const at = '2030-01-01T00:00:00.000Z';
const place = { workflowId: 'w', id: 'e', at };
const item = (each: RunItem): RecordedEvent => ({ type: 'RunItemEvent', ...place, item: each });
const said = (role: 'user' | 'assistant', content: string, agentName = 'desk'): RecordedEvent =>
  item({ type: 'message', role, content, ...(role === 'assistant' && { agentName }) });
const result = (callId: string, toolName: string, ran: 'yes' | 'no' | 'unknown', isError = false): RecordedEvent =>
  item({ type: 'tool_result', callId, toolName, content: '', isError, ran });
const opened = (requestId: string): RecordedEvent =>
  ({ type: 'ApprovalRequestEvent', ...place, requestId }) as RecordedEvent;
const settled = (callId: string, decision: 'denied' | 'approved'): RecordedEvent =>
  ({
    type: 'ApprovalResultEvent',
    ...place,
    callId,
    decision,
    reviewerId: 'bob',
    reviewerName: 'Bob',
  }) as RecordedEvent;

describe('the past of a request', () => {
  const events = [
    said('user', 'Refund order 7.'),
    said('assistant', 'I look first.'),
    result('1.1', 'look_up', 'yes'),
    result('1.2', 'look_up', 'yes'),
    settled('1.3', 'denied'),
    result('1.3', 'refund', 'no'),
    settled('1.4', 'approved'),
    result('1.4', 'mail', 'yes', true),
    said('user', 'And now?'),
    opened('mine'),
    said('user', 'Hurry up!'),
    result('2.2', 'wipe', 'unknown'),
  ];

  test('is what came before it', () => {
    const past = pastOf(events, 'mine');
    expect(past.asked).toEqual({ text: 'And now?', at });
    expect(callsText(past.calls)).toBe(
      '4 calls before this: look_up ran twice, refund denied by Bob (bob), mail failed',
    );
    expect(past.isModels('I look first.')).toBe(true);
    expect(past.isModels('And now?')).toBe(false);
  });

  test('is all that is known if its own event is not there yet', () => {
    const past = pastOf(events, 'other');
    expect(past.asked?.text).toBe('Hurry up!');
    expect(callsText(past.calls, true)).toMatch(/^At least 5 calls before this: .*, wipe may have run$/);
  });

  test('may be empty', () => {
    expect(callsText(pastOf([], 'mine').calls)).toBe('No call before this one.');
    expect(pastOf([], 'mine').asked).toBeUndefined();
  });

  test('names the agent that called a nested run', () => {
    const nested = item({ type: 'nested_run', callId: '1.1', workflowId: 'w/1.1' });
    const handoff = item({ type: 'handoff', from: 'desk', to: 'lead' });
    expect(callingAgent([said('assistant', 'x'), nested], 'w/1.1')).toBe('desk');
    expect(callingAgent([said('assistant', 'x'), handoff, nested], 'w/1.1')).toBe('lead');
    expect(callingAgent([said('assistant', 'x')], 'w/1.1')).toBeUndefined();
  });
});

describe('a difference as drawn', () => {
  const drawn = (before: string, after: string): string[] => {
    const change = cardChange({ kind: 'text', name: 'f', before, after }, noBounds);
    return drawnLines(change as typeof change & { kind: 'text' }).map(
      (line) =>
        `${line.before ?? '-'} ${line.after ?? '-'} ${line.words === undefined ? line.text.text : line.words.join('|')}`,
    );
  };

  test('has the numbers of both sides, and marks the words that differ', () => {
    expect(drawn('a\nrate: 60 per s\nb\nc\n', 'a\nrate: 600 per s\nb\nd\ne\n')).toEqual([
      '- - @@ -1,4 +1,5 @@',
      '1 1 a',
      '2 - rate: |60| per s',
      '- 2 rate: |600| per s',
      '3 3 b',
      '4 - c',
      '- 4 d',
      '- 5 e',
    ]);
  });

  test('tears no escape, and compares no lines without a common word', () => {
    expect(drawn('to ann\u202e\n', 'to ann\u202d\n').slice(1)).toEqual([
      String.raw`1 - to ann|\u{202E}|`,
      String.raw`- 1 to ann|\u{202D}|`,
    ]);
    expect(drawn('one\n', 'two\n').slice(1)).toEqual(['1 - one', '- 1 two']);
  });

  test('numbers begin at the place of each part', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = lines.with(10, 'other').join('\n');
    expect(drawn(lines.join('\n'), after)).toContain('11 - line 10');
  });
});
