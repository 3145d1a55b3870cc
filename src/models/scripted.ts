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
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { DefinitionError } from '../agents/check-options.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { readFault } from '../text/read-fault.ts';

/**
 * Returns a model that plays turns from a file (JSON or YAML) or a list, for demos and tests. `docs/models.md` shows
 * the format of the file. Throws a `DefinitionError` for a script that is invalid or cannot be read.
 *
 * The next turn depends only on the number of assistant messages so far, so it is the same on every worker and in every
 * retry. After the last turn the model answers "Done.".
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

/** Plays one turn. `index`: its place, for the ids of its calls. `result`: the text that replaces `{{lastResult}}`. */
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

const noUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** The played turn as a stream of parts. A text comes word by word, as from a real model. */
function toStream({ content, finishReason, usage }: Played): ReadableStream<LanguageModelV4StreamPart> {
  const parts = content.flatMap((part, index): LanguageModelV4StreamPart[] => {
    const id = String(index);
    if (part.type !== 'text') return part.type === 'tool-call' ? [part] : [];
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

/** Returns the error of a provider for this HTTP status or, without a status, for a server that does not answer. */
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

/** One turn of a scripted model, which writes `text`, calls tools, or fails. Every member is optional. */
export interface ScriptedTurn {
  /** The text of the answer. `{{lastResult}}` in it is replaced by the last tool result. */
  text?: string;
  calls?: {
    /** The name of the tool. */
    tool: string;
    /** The arguments of the call. Default `{}`. */
    args?: JsonObject;
    /** The arguments as the model's raw text, which may be invalid, instead of `args`. */
    rawArguments?: string;
    /** The id that the model gives the call. Default `call_TURN_CALL`; both count from 1. */
    id?: string;
  }[];
  /** Makes the turn fail as an HTTP request with this status; without a status, as if the server did not answer. */
  error?: { status?: number; retryAfterMs?: number };
  /** The delay before the turn, in milliseconds. */
  delayMs?: number;
}

const scriptedCall = z.strictObject({
  tool: z.string(),
  args: z.record(z.string(), z.json()).optional(),
  rawArguments: z.string().optional(),
  id: z.string().optional(),
});

const scriptedTurn: z.ZodType<ScriptedTurn, ScriptedTurn> = z.strictObject({
  text: z.string().optional(),
  calls: z.array(scriptedCall).optional(),
  error: z
    .strictObject({ status: z.int().min(100).max(599).optional(), retryAfterMs: z.int().min(0).optional() })
    .optional(),
  delayMs: z.int().min(0).max(86_400_000).optional(),
});

const turns = z.array(scriptedTurn);
const script = z.union([turns, z.record(z.string(), turns)]);

/** A list of turns; or lists by the exact text of the first user message, with `default` for all other texts. */
export type Script = readonly ScriptedTurn[] | Readonly<Record<string, readonly ScriptedTurn[]>>;

/** Reads the turns of a script or of its file (JSON or YAML), by first user message. Throws a `DefinitionError`. */
export function readScript(fileOrScript: string | Script): Map<string, readonly ScriptedTurn[]> {
  const place = typeof fileOrScript === 'string' ? fileOrScript : 'scriptedModel';
  const found = script.safeParse(typeof fileOrScript === 'string' ? readYaml(fileOrScript) : fileOrScript);
  if (!found.success) throw new DefinitionError(`${place}: ${sentenceOf(found.error.issues[0])}`);
  if (Array.isArray(found.data)) return new Map([['default', found.data]]);
  const scripts = new Map(Object.entries(found.data));
  if (!scripts.has('default')) throw new DefinitionError(`${place}: expected a list of turns named 'default'`);
  return scripts;
}

function readYaml(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DefinitionError(`${path}: cannot be read as a script (${readFault(error).split('\n', 1)[0]})`);
  }
}

/** A sentence about an issue, with its path below `above`. Of a union, it is about the deepest issue inside. */
function sentenceOf(issue: z.core.$ZodIssue | undefined, above: readonly PropertyKey[] = []): string {
  if (issue === undefined) return 'expected a list of turns';
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    const deepest = issue.errors.flat().toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest !== undefined && deepest.path.length > 0) return sentenceOf(deepest, path);
  }
  if (path.length === 0) return 'expected a list of turns, or lists of turns by first user message';
  return `${path.map(String).join('.')}: ${issue.message.replace(/\s+/g, ' ')}`;
}
