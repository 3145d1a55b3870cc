import type { LanguageModelV4 } from '@ai-sdk/provider';
import { promptScripted } from './prompt-scripted.ts';

/** A model that plays its prompt, and reports these tokens for each turn. */
export function costlyModel(modelId: string, { input = 1_000, cached = 400, output = 500 } = {}): LanguageModelV4 {
  const scripted = promptScripted();
  const usage = {
    inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
  return {
    ...scripted,
    modelId,
    doGenerate: async (options) => ({ ...(await scripted.doGenerate(options)), usage }),
    doStream: async (options) => {
      const { stream } = await scripted.doStream(options);
      return {
        stream: stream.pipeThrough(
          new TransformStream({
            transform: (part, to) => to.enqueue(part.type === 'finish' ? { ...part, usage } : part),
          }),
        ),
      };
    },
  };
}

/** A turn of `costly-1` costs 0.01 EUR: 600 × 4, 400 × 1 and 500 × 14.4 millionths. */
export const costlyPrices = {
  currency: 'EUR',
  models: { 'costly-1': { input: 4, cached_input: 1, output: 14.4 } },
};
