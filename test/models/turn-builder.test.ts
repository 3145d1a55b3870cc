import { describe, expect, test } from 'vitest';
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { TurnBuilder, type RawTurn } from '../../src/models/ask-model.ts';

type Part = LanguageModelV4StreamPart;

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 2 } } as LanguageModelV4Usage;
const call: Part = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}' };

function built(...parts: Part[]): RawTurn {
  const turn = new TurnBuilder();
  for (const part of parts) turn.add(part);
  turn.add({ type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } });
  return turn.finish();
}

describe('what a provider gives beside text and calls', () => {
  test('is absent where there is nothing of it', () => {
    const text = (delta: string): Part => ({ type: 'text-delta', id: '1', delta });
    const start: Part = { type: 'text-start', id: '1', providerMetadata: {} };
    expect(built(start, text('a'), text('b'), { type: 'text-end', id: '1' }, call)).toEqual({
      text: 'ab',
      calls: [{ id: 'c', tool: 'look', arguments: '{}' }],
      usage: { inputTokens: 1, outputTokens: 2 },
      finishReason: 'stop',
    });
  });

  test('is kept in its order, with what was attached last', () => {
    const turn = built(
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Let me ' },
      { type: 'reasoning-delta', id: '0', delta: 'see.', providerMetadata: { one: { signature: 'early' } } },
      { type: 'text-start', id: '0', providerMetadata: { one: { itemId: 'm' } } },
      // Ends after the text has begun, as parts that overlap do.
      { type: 'reasoning-end', id: '0', providerMetadata: { one: { signature: 'late' } } },
      { type: 'text-delta', id: '0', delta: 'Yes' },
      { type: 'text-end', id: '0' },
      { ...call, providerMetadata: { one: { thoughtSignature: 't' } } },
      { type: 'reasoning-start', id: '0', providerMetadata: { one: { redacted: 'r' } } },
      { type: 'custom', kind: 'one.mark' },
      call,
      { type: 'text-delta', id: '7', delta: '!' },
    );
    expect(turn.text).toBe('Yes!');
    expect(turn.parts).toEqual([
      { type: 'reasoning', text: 'Let me see.', metadata: { one: { signature: 'late' } } },
      { type: 'text', length: 3, metadata: { one: { itemId: 'm' } } },
      { type: 'call', metadata: { one: { thoughtSignature: 't' } } },
      { type: 'reasoning', text: '', metadata: { one: { redacted: 'r' } } },
      { type: 'custom', kind: 'one.mark' },
      { type: 'call' },
      { type: 'text', length: 1 },
    ]);
  });

  test('has as many calls as the turn', () => {
    const { calls, parts } = built({ type: 'reasoning-start', id: '' }, ...Array.from({ length: 200 }, () => call));
    expect(parts?.filter(({ type }) => type === 'call')).toHaveLength(calls.length);
  });

  test.each<[string, Part]>([
    ['reasoning', { type: 'reasoning-delta', id: '0', delta: 'x'.repeat(100_000) }],
    ['reasoning without a text', { type: 'reasoning-start', id: '0' }],
    ['of what only a provider knows', { type: 'custom', kind: `one.${'x'.repeat(100_000)}` }],
    ['what is attached', { ...call, providerMetadata: { one: { signature: 'x'.repeat(100_000) } } }],
  ])('counts as text: too much %s ends the turn', (_what, part) => {
    const many = part.type === 'reasoning-start' ? 40_000 : 11;
    expect(() => built(...Array.from({ length: many }, () => part))).toThrow(
      "The model's answer is too large (more than 1048576 characters).",
    );
  });
});
