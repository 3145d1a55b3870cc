import { describe, expect, test } from 'vitest';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { checkCalls } from '../../../src/activities/check-calls.ts';
import { askModel } from '../../../src/models/ask-model.ts';
import type { KeptMessage } from '../../../src/contract/provider-turn.ts';
import { toPrompt } from '../../../src/models/to-prompt.ts';
import { seededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import { claudeThinks } from './anthropic.ts';
import { wireServersOfTests } from './started-servers.ts';
import { wireFormats, type WireServer, type WireTurn } from './wire-server.ts';

/** A run sends each provider only what the provider's rules allow, whatever the model and its tools say. */

const start = wireServersOfTests();

const tools: LanguageModelV4CallOptions['tools'] = [
  { type: 'function', name: 'look', inputSchema: { type: 'object', properties: {} } },
];

interface How {
  streaming: boolean;
  /** True: thinking is switched on for Claude. The servers of the other models think if their turns have reasoning. */
  thinks: boolean;
}

/** One turn as a run makes it: the answer joins the transcript, which goes through history. */
async function turnOf({ model }: WireServer, transcript: readonly KeptMessage[], { streaming, thinks }: How) {
  const { provider } = model;
  const { text, parts, ...turn } = await askModel(
    model,
    { prompt: toPrompt('Be brief.', transcript, provider), tools, ...(thinks && { providerOptions: claudeThinks }) },
    new AbortController().signal,
    { streaming: streaming ? 'on' : 'off' },
  );
  const calls = await checkCalls(turn, { toolNamed: () => undefined, whyNot: () => undefined });
  const toolCalls = calls.map(({ id, tool: name, raw = {} }) => ({ id, name, arguments: raw }));
  const message: KeptMessage = {
    role: 'assistant',
    content: text,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(parts !== undefined && { providerTurn: { provider, parts } }),
  };
  return JSON.parse(JSON.stringify(message)) as typeof message;
}

function answersOf(message: KeptMessage, content: () => string): KeptMessage[] {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.map(({ id, name }) => ({ role: 'tool', toolCallId: id, toolName: name, content: content() }));
}

const results = ['seen', '', ' \n', 'Denied: no', 'Denied: no decision within 10m', '{"at":"a"}'];

function randomTurn(random: SeededRandom, place: number, thinks: boolean): WireTurn {
  const calls = Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, (_, index) => ({
    name: 'look',
    args: { at: `${place}.${index}` },
  }));
  const text = random.pick(['Let me look.', '', ' \n', 'é'.repeat(50)]);
  const callId = random.pick([undefined, undefined, 'look:0']);
  return {
    ...(thinks && random.chance(0.7) && { reasoning: `I ponder ${place}.` }),
    ...(text !== '' && { text }),
    ...(calls.length > 0 && { calls }),
    ...(callId !== undefined && calls.length < 2 && { callId }),
  };
}

describe.each([true, false])('streaming: %s', (streaming) => {
  test.each(wireFormats.flatMap((format) => [true, false].map((thinks) => [format, thinks] as const)))(
    '%s takes random transcripts of a model (thinking: %s)',
    async (format, thinks) => {
      for (let seed = 1; seed <= 3; seed += 1) {
        const random = seededRandom(seed);
        const turns = Array.from({ length: 12 }, (_, place) => randomTurn(random, place, thinks));
        const server = await start(format, turns);
        const transcript: KeptMessage[] = [{ role: 'user', content: 'Go' }];
        for (const _ of turns) {
          const answer = await turnOf(server, transcript, { streaming, thinks }).catch((error: unknown) => {
            throw new Error(`seed ${seed}: ${server.refusals.join(' ')}`, { cause: error });
          });
          transcript.push(answer);
          const told = answersOf(answer, () => random.pick(results));
          transcript.push(...(told.length > 0 ? told : [{ role: 'user' as const, content: 'Go on' }]));
        }
        expect(server.refusals).toEqual([]);
      }
    },
  );

  test.each(wireFormats.map((format, index) => [format, wireFormats[(index + 1) % wireFormats.length]!] as const))(
    'a run that %s has begun goes on with %s',
    async (first, second) => {
      const calls = [{ name: 'look', args: { at: 'a' } }];
      const from = await start(first, [{ reasoning: 'I ponder.', text: 'Over to you.', calls, callId: 'look:0' }]);
      const to = await start(second, [{ text: 'Seen.', calls, callId: 'look:0' }, { text: 'Done.' }]);
      const transcript: KeptMessage[] = [{ role: 'user', content: 'Go' }];
      for (const server of [from, to, to]) {
        // Claude thinks from its own next turn on: it refuses to think in a turn that somebody else has begun.
        const answer = await turnOf(server, transcript, { streaming, thinks: server === from });
        transcript.push(answer, ...answersOf(answer, () => 'seen'));
      }
      expect([...from.refusals, ...to.refusals]).toEqual([]);
      expect(transcript.at(-1)).toMatchObject({ role: 'assistant', content: 'Done.' });
    },
  );
});
