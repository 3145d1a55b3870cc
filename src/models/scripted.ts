import { setTimeout as sleep } from 'node:timers/promises';
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Content,
  type LanguageModelV4FinishReason,
  type LanguageModelV4Prompt,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { readScript, type Script, type ScriptedTurn } from './read-script.ts';

/**
 * A model that plays turns from a file (JSON or YAML) or a list, for demos and tests. `docs/models.md` shows the file
 * format. Throws a `DefinitionError` for a script that is invalid or cannot be read.
 *
 * The turn depends only on the conversation, by the number of its assistant messages, so it is the same on every worker
 * and in every retry. After the last turn the model answers "Done.".
 *
 * @example
 * ```ts
 * import { scriptedModel } from 'countersign';
 *
 * const model = scriptedModel([
 *   { calls: [{ tool: 'refund', args: { orderId: 'o-17', amount: 20 } }] },
 *   { text: 'The tool said: {{lastResult}}' },
 * ]);
 * const { content } = await model.doGenerate({ prompt: [] });
 * console.log(content.map((part) => part.type)); // [ 'tool-call' ]
 * ```
 */
export function scriptedModel(fileOrScript: string | Script): LanguageModelV4 {
  const scripts = readScript(fileOrScript);
  const play = async (options: LanguageModelV4CallOptions): Promise<Played> => {
    const { prompt, abortSignal } = options;
    const turns = scripts.get(firstUserMessage(prompt)) ?? scripts.get('default') ?? [];
    const index = prompt.filter((message) => message.role === 'assistant').length;
    const turn = turns[index] ?? { text: 'Done.' };
    if (turn.delayMs !== undefined) await sleep(turn.delayMs, undefined, { signal: abortSignal });
    if (turn.error !== undefined) throw failure(turn.error);
    return perform(turn, index, lastResult(prompt));
  };
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: typeof fileOrScript === 'string' ? fileOrScript : 'script',
    supportedUrls: { '*': [/^https:/] },
    doGenerate: async (options) => ({ ...(await play(options)), warnings: [] }),
    doStream: async (options) => ({ stream: toStream(await play(options)) }),
  };
}

interface Played {
  content: LanguageModelV4Content[];
  finishReason: LanguageModelV4FinishReason;
  usage: LanguageModelV4Usage;
}

function perform(turn: ScriptedTurn, index: number, result: string): Played {
  const content: LanguageModelV4Content[] = [];
  if (turn.text !== undefined)
    content.push({ type: 'text', text: turn.text.replaceAll('{{lastResult}}', () => result) });
  turn.calls?.forEach((call, position) => {
    content.push({
      type: 'tool-call',
      toolCallId: call.id ?? `call_${index + 1}_${position + 1}`,
      toolName: call.tool,
      input: call.rawArguments ?? JSON.stringify(call.args ?? {}),
    });
  });
  const unified = turn.calls?.length ? 'tool-calls' : 'stop';
  return { content, finishReason: { unified, raw: undefined }, usage: noUsage };
}

/** Reports no token counts. */
const noUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function toStream({ content, finishReason, usage }: Played): ReadableStream<LanguageModelV4StreamPart> {
  const parts = content.flatMap((part, index): LanguageModelV4StreamPart[] => {
    const id = String(index);
    if (part.type !== 'text') return part.type === 'tool-call' ? [part] : [];
    // Word by word, as a real model streams.
    const deltas = part.text.match(/\S+\s*|\s+/g) ?? [];
    return [
      { type: 'text-start', id },
      ...deltas.map((delta) => ({ type: 'text-delta' as const, id, delta })),
      { type: 'text-end', id },
    ];
  });
  return ReadableStream.from<LanguageModelV4StreamPart>([
    { type: 'stream-start', warnings: [] },
    ...parts,
    { type: 'finish', finishReason, usage },
  ]);
}

function failure(error: NonNullable<ScriptedTurn['error']>): APICallError {
  const { status, retryAfterMs } = error;
  return new APICallError({
    message: 'The script says that this turn fails.',
    url: 'http://scripted',
    requestBodyValues: {},
    statusCode: status,
    responseHeaders: retryAfterMs === undefined ? undefined : { 'retry-after-ms': String(retryAfterMs) },
  });
}

function firstUserMessage(prompt: LanguageModelV4Prompt): string {
  const message = prompt.find((each) => each.role === 'user');
  return (message?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function lastResult(prompt: LanguageModelV4Prompt): string {
  const part = prompt.findLast((message) => message.role === 'tool')?.content.at(-1);
  if (part?.type !== 'tool-result') return '';
  const { output } = part;
  return 'value' in output && typeof output.value === 'string' ? output.value : JSON.stringify(output);
}
