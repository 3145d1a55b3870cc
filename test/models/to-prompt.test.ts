import { describe, expect, test } from 'vitest';
import type { KeptMessage, ProviderPart } from '../../src/contract/provider-turn.ts';
import { toPrompt } from '../../src/models/to-prompt.ts';

describe('toPrompt', () => {
  test('keeps order, and joins adjacent results', () => {
    const prompt = toPrompt(
      'Be brief.',
      [
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
      ],
      'test',
    );
    expect(prompt).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both' },
          { type: 'tool-call', toolCallId: 'c00010000', toolName: 'a', input: { x: 1 } },
          { type: 'tool-call', toolCallId: 'c00010001', toolName: 'b', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c00010000', toolName: 'a', output: { type: 'text', value: 'one' } },
          {
            type: 'tool-result',
            toolCallId: 'c00010001',
            toolName: 'b',
            output: { type: 'error-text', value: 'Denied: no' },
          },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'On' }] },
    ]);
  });

  test.each([
    ['a text', 'Billing.', ['user', 'assistant', 'user', 'user'], 'mistral.chat'],
    ['none', ' ', ['user', 'user', 'user'], 'mistral.chat'],
  ])('tells the model right after an answer that does not fit, of %s', (_case, content, roles, provider) => {
    const outputProblem = 'output: expected JSON, got no text';
    const prompt = toPrompt(
      '',
      [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content, outputProblem },
        { role: 'user', content: 'On' },
      ],
      provider,
    );
    expect(prompt.map(({ role }) => role)).toEqual(roles);
    expect(prompt.at(-2)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: `Error: ${outputProblem}; write the whole answer again` }],
    });
  });

  test('does not change the transcript, and has no system message without instructions', () => {
    const messages = [
      { role: 'tool' as const, toolCallId: '1', toolName: 'a', content: 'one' },
      { role: 'tool' as const, toolCallId: '2', toolName: 'a', content: 'two' },
    ];
    const before = structuredClone(messages);
    expect(toPrompt('', messages, 'test')).toHaveLength(1);
    expect(toPrompt('', messages, 'test')).toEqual(toPrompt('', before, 'test'));
    expect(messages).toEqual(before);
  });

  test('nothing blank is sent', () => {
    const calls = [{ id: '1', name: 'a', arguments: {} }];
    const messages: KeptMessage[] = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: '' },
      { role: 'user', content: ' \n' },
      { role: 'assistant', content: '\t', toolCalls: calls },
      { role: 'tool', toolCallId: '1', toolName: 'a', content: ' ' },
    ];
    const prompt = toPrompt('', messages, 'test');
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(prompt[1]?.content).toMatchObject([{ type: 'tool-call' }]);
    expect(prompt[2]?.content).toMatchObject([{ output: { value: 'The tool returned nothing.' } }]);
  });

  describe('a turn that its provider wants back whole', () => {
    const parts: ProviderPart[] = [
      { type: 'reasoning', text: 'Hm.', metadata: { one: { signature: 's' } } },
      { type: 'text', length: 3 },
      { type: 'call', metadata: { one: { itemId: 'i' } } },
      { type: 'custom', kind: 'one.mark', metadata: { one: { mark: 1 } } },
      { type: 'text', length: 2 },
      { type: 'call' },
    ];
    const toolCalls = [
      { id: 'look:0', name: 'look', arguments: {} },
      { id: 'look:1', name: 'look', arguments: {} },
    ];
    const turn: KeptMessage = {
      role: 'assistant',
      content: 'One2!',
      toolCalls,
      providerTurn: { provider: 'one', parts },
    };
    const call = { type: 'tool-call', toolName: 'look', input: {} };

    test('goes back to it in its order', () => {
      expect(toPrompt('', [turn], 'one')[0]?.content).toEqual([
        { type: 'reasoning', text: 'Hm.', providerOptions: { one: { signature: 's' } } },
        { type: 'text', text: 'One' },
        { ...call, toolCallId: 'c00000000', providerOptions: { one: { itemId: 'i' } } },
        { type: 'custom', kind: 'one.mark', providerOptions: { one: { mark: 1 } } },
        { type: 'text', text: '2!' },
        { ...call, toolCallId: 'c00000001' },
      ]);
    });

    test('goes to another provider as text and calls', () => {
      expect(toPrompt('', [turn], 'other')[0]?.content).toEqual([
        { type: 'text', text: 'One2!' },
        { ...call, toolCallId: 'c00000000' },
        { ...call, toolCallId: 'c00000001' },
      ]);
    });

    test('an id that repeats in the transcript is replaced, and each answer has that of its call', () => {
      const answers: KeptMessage[] = toolCalls.map(({ id, name }) => ({
        role: 'tool',
        toolCallId: id,
        toolName: name,
        content: id,
      }));
      const prompt = toPrompt('', [turn, ...answers, turn, ...answers.toReversed()], 'one');
      const ids = prompt.map(({ content }) =>
        (content as { toolCallId?: string }[]).flatMap(({ toolCallId }) => toolCallId ?? []),
      );
      expect(ids).toEqual([
        ['c00000000', 'c00000001'],
        ['c00000000', 'c00000001'],
        ['c00030000', 'c00030001'],
        ['c00030001', 'c00030000'],
      ]);
    });
  });

  test.each([
    ['functions.read', {}, 'functions_read', {}],
    ['', { a: 1 }, '_', { a: 1 }],
    ['é'.repeat(99), {}, '_'.repeat(64), {}],
    ['read', '{"path": ', 'read', { unreadable: '{"path": ' }],
    ['read', [1], 'read', { unreadable: [1] }],
    ['read', null, 'read', { unreadable: null }],
  ])('a bad call of %j with %j can be sent again', (name, args, toolName, input) => {
    const [assistant, result] = toPrompt(
      '',
      [
        { role: 'assistant', content: '', toolCalls: [{ id: '1', name, arguments: args }] },
        { role: 'tool', toolCallId: '1', toolName: name, content: 'Error: …' },
      ],
      'test',
    );
    expect(assistant?.content).toEqual([{ type: 'tool-call', toolCallId: 'c00000000', toolName, input }]);
    expect(result?.content[0]).toMatchObject({ toolName });
  });
});
