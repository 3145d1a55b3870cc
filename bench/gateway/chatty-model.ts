import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { lettersOf } from './letters.ts';

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
};

/**
 * Writes the time as a word each 50 milliseconds for two seconds, then calls `look`; `turns` times, and at last it writes
 * only.
 */
export function chattyModel(turns: number): LanguageModelV4 {
  async function* parts(isLast: boolean): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: 'text-start', id: '0' };
    for (let piece = 0; piece < 40; piece += 1) {
      yield { type: 'text-delta', id: '0', delta: `${lettersOf(Date.now())} ` };
      await sleep(50);
    }
    yield { type: 'text-end', id: '0' };
    if (!isLast) yield { type: 'tool-call', toolCallId: 'look', toolName: 'look', input: '{}' };
    yield { type: 'finish', finishReason: { unified: isLast ? 'stop' : 'tool-calls', raw: undefined }, usage };
  }
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'chatty',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('this model only streams')),
    doStream: ({ prompt }) => {
      const before = prompt.filter(({ role }) => role === 'assistant').length;
      return Promise.resolve({ stream: ReadableStream.from(parts(before >= turns)) });
    },
  };
}
