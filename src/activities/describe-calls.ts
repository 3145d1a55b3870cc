import { Context } from '@temporalio/activity';
import type { Tool } from '../agents/definitions.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { aborted } from '../text/aborted.ts';
import { oneSentence } from '../text/one-sentence.ts';
import type { ModelCall } from './model-turn.ts';

const limitMs = 1_000;

/**
 * Adds to each call that can run the sentence of its tool's `describe`. A call whose `describe` throws, gives no text or
 * takes more than a second has no sentence: nothing is denied for that, and the worker logs a warning. Recording the
 * sentence here gives the run the same one in every replay (I12).
 */
export function describeCalls(
  calls: readonly ModelCall[],
  toolNamed: (name: string) => Tool | undefined,
): Promise<ModelCall[]> {
  return Promise.all(
    calls.map(async (call) => {
      const tool = toolNamed(call.tool);
      if (tool?.describe === undefined || call.args === undefined) return call;
      const sentence = await describe(tool, call.args);
      return sentence === undefined ? call : { ...call, sentence };
    }),
  );
}

async function describe(tool: Tool, args: JsonObject): Promise<string | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    // A copy: no change affects the arguments that are shown, hashed and executed (I8).
    const describing = Promise.resolve().then(() => tool.describe!(structuredClone(args)));
    const sentence: unknown = await Promise.race([describing, aborted(limit)]);
    if (typeof sentence !== 'string') throw new TypeError(`expected a text, not ${typeof sentence}`);
    return oneSentence(sentence) || undefined;
  } catch (error) {
    // Only the type: a message may hold values of arguments, which no log may (I13).
    const failure = error instanceof Error ? error.name : typeof error;
    const what = limit.aborted ? `it took longer than ${limitMs} ms` : failure;
    Context.current().log.warn(`describe of tool '${tool.name}' gave no sentence: ${what}`);
    return undefined;
  }
}
