import { expect, test } from 'vitest';
import { transcriptCalls } from '../../../../packages/cli/src/review/transcript-calls.ts';
import type { Message } from '../../../../src/contract.ts';

const asked = (...calls: [id: string, name: string, to: string][]): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: calls.map(([id, name, to]) => ({ id, name, arguments: { to } })),
});
const answered = (toolCallId: string): Message => ({ role: 'tool', toolCallId, toolName: 'pay', content: 'ok' });

test('the calls of the tool that were answered, also where the model reuses its ids', () => {
  const transcript: Message[] = [
    { role: 'user', content: 'hello' },
    asked(['1', 'pay', 'ann'], ['2', 'look', 'x']),
    answered('1'),
    answered('2'),
    asked(['1', 'pay', 'bob']),
    answered('1'),
    answered('1'),
    { role: 'assistant', content: '', toolCalls: [{ id: '3', name: 'pay', arguments: 'no object' }] },
    answered('3'),
    asked(['1', 'pay', 'carl'], ['4', 'pay', 'dora']),
    answered('4'),
  ];
  expect(transcriptCalls(transcript, 'pay')).toEqual([{ to: 'ann' }, { to: 'bob' }, { to: 'dora' }]);
});
