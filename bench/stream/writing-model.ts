import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';

/** Pieces of the answer, and the time between two of them: 3 seconds in all. */
export const pieces = 60;
const everyMs = 50;

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: pieces, text: undefined, reasoning: undefined },
};

/** A model that writes for 3 seconds. Each piece is the time at which it was written, in milliseconds, and a blank. */
export function writingModel(): LanguageModelV4 {
  async function* parts(): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: 'text-start', id: '0' };
    for (let piece = 0; piece < pieces; piece += 1) {
      yield { type: 'text-delta', id: '0', delta: `${Date.now()} ` };
      await sleep(everyMs);
    }
    yield { type: 'text-end', id: '0' };
    yield { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage };
  }
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'writing',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('this model only streams')),
    doStream: () => Promise.resolve({ stream: ReadableStream.from(parts()) }),
  };
}

/** The times in a text, or in a part of it that was cut at its beginning. */
export function writtenAt(text: string): number[] {
  return text
    .split(' ')
    .filter((piece) => /^\d{13}$/.test(piece))
    .map(Number);
}
