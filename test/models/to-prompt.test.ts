import { describe, expect, test } from 'vitest';
import { toPrompt } from '../../src/models/to-prompt.ts';

describe('toPrompt', () => {
  test('keeps order, and joins adjacent results', () => {
    const prompt = toPrompt('Be brief.', [
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: 'Both',
        toolCalls: [
          { id: '1', name: 'a', arguments: { x: 1 } },
          { id: '2', name: 'b', arguments: {} },
        ],
      },
      { role: 'tool', toolCallId: '1', toolName: 'a', content: 'one' },
      { role: 'tool', toolCallId: '2', toolName: 'b', content: 'Denied: no', isError: true },
      { role: 'user', content: 'On' },
    ]);
    expect(prompt).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both' },
          { type: 'tool-call', toolCallId: '1', toolName: 'a', input: { x: 1 } },
          { type: 'tool-call', toolCallId: '2', toolName: 'b', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: '1', toolName: 'a', output: { type: 'text', value: 'one' } },
          { type: 'tool-result', toolCallId: '2', toolName: 'b', output: { type: 'error-text', value: 'Denied: no' } },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'On' }] },
    ]);
  });

  test('does not change the transcript, and has no system message without instructions', () => {
    const messages = [
      { role: 'tool' as const, toolCallId: '1', toolName: 'a', content: 'one' },
      { role: 'tool' as const, toolCallId: '2', toolName: 'a', content: 'two' },
    ];
    const before = structuredClone(messages);
    expect(toPrompt('', messages)).toHaveLength(1);
    expect(toPrompt('', messages)).toEqual(toPrompt('', before));
    expect(messages).toEqual(before);
  });

  test('an answer without content is left out', () => {
    const asked = (content: string) => ({ role: 'user' as const, content });
    const prompt = toPrompt('', [asked('Go'), { role: 'assistant', content: '' }, asked('On')]);
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  test.each([
    ['functions.read', {}, 'functions_read', {}],
    ['', { a: 1 }, '_', { a: 1 }],
    ['é'.repeat(99), {}, '_'.repeat(64), {}],
    ['read', '{"path": ', 'read', { unreadable: '{"path": ' }],
    ['read', [1], 'read', { unreadable: [1] }],
    ['read', null, 'read', { unreadable: null }],
  ])('a bad call of %j with %j can be sent again', (name, args, toolName, input) => {
    const [assistant, result] = toPrompt('', [
      { role: 'assistant', content: '', toolCalls: [{ id: '1', name, arguments: args }] },
      { role: 'tool', toolCallId: '1', toolName: name, content: 'Error: …' },
    ]);
    expect(assistant?.content).toEqual([{ type: 'tool-call', toolCallId: '1', toolName, input }]);
    expect(result?.content[0]).toMatchObject({ toolName });
  });
});
