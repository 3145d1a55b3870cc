import type { Tool } from '../agents/definitions.ts';
import { validateArguments } from '../agents/define-tool.ts';
import type { FoundTools } from './load-agent.ts';
import { splitShell } from '../shell/split.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { maxCallsOfTurn, type RawCall, type RawTurn } from '../models/ask-model.ts';
import { unfinishedOf, unfinishedText } from '../core/base/model-answer.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import { parseArguments } from '../models/parse-object.ts';
import type { ModelCall } from './model-turn.ts';
import { Context } from '@temporalio/activity';
import { aborted } from '../text/aborted.ts';
import { oneSentence } from '../text/visible-text.ts';

const longestName = 128;
/** The most characters of unparsable arguments that the transcript keeps. */
const longestRawText = 2_000;
const oneTooMany = `Error: only the first ${maxCallsOfTurn} calls of a turn are taken: make this one, and those after it, in the next turn`;

/**
 * Checks the calls of a model's turn. A call that cannot run, or beyond `maxCallsOfTurn`, gets a `problem`: a sentence
 * for the model, which `whyNot` gives for a missing tool. `argumentBytes` limits the raw arguments of each call.
 */
export async function checkCalls(
  turn: Pick<RawTurn, 'calls' | 'finishReason'>,
  { toolNamed, whyNot }: FoundTools,
  argumentBytes = inlineLimits.argumentBytes,
): Promise<ModelCall[]> {
  const ids = new Set<string>();
  const calls: ModelCall[] = [];
  for (const call of turn.calls) {
    const id = uniqueId(call.id, ids);
    const checked =
      calls.length < maxCallsOfTurn
        ? await checkCall(call, turn.finishReason, { toolNamed, whyNot }, argumentBytes)
        : { raw: shorten(call.arguments, longestRawText), problem: oneTooMany };
    calls.push({ id, tool: shorten(call.tool, longestName), ...checked });
  }
  return calls;
}

/** Returns the arguments as the tool's schema parses them; or a `problem`, and what the model wrote as arguments. */
async function checkCall(
  call: RawCall,
  finishReason: string,
  { toolNamed, whyNot }: FoundTools,
  argumentBytes: number,
): Promise<Omit<ModelCall, 'id' | 'tool'>> {
  const tool = toolNamed(call.tool);
  const parsed = parseArguments(call.arguments, argumentBytes);
  const raw = 'args' in parsed ? parsed.args : shorten(call.arguments, longestRawText);
  // If the answer was cut off, this call may be incomplete, or a call that belongs to it may be missing.
  const unfinished = unfinishedOf(finishReason);
  if (unfinished !== undefined) return { raw, problem: `Error: not run, because ${unfinishedText(unfinished)}` };
  if (tool === undefined) {
    return { raw, problem: `Error: ${whyNot(call.tool) ?? `tool '${shorten(call.tool, longestName)}' not found`}` };
  }
  if ('problem' in parsed) return { raw, problem: `Error: ${parsed.problem}` };
  const valid = await validateArguments(tool, parsed.args);
  if ('problem' in valid) return { raw, problem: `Error: ${valid.problem}` };
  return { args: valid.args, ...shellOf(tool, valid.args) };
}

function shellOf({ subject, shellSubject }: Tool, args: JsonObject): Pick<ModelCall, 'shell'> {
  if (!shellSubject || subject === undefined || !Object.hasOwn(args, subject)) return {};
  const command = args[subject];
  return typeof command === 'string' ? { shell: { argument: subject, ...splitShell(command) } } : {};
}

/** Returns an id that no other call of the turn has, because the model matches results with calls by their ids. */
function uniqueId(id: string, taken: Set<string>): string {
  const wanted = shorten(id, longestName) || 'call';
  let unique = wanted;
  for (let next = 2; taken.has(unique); next++) unique = `${wanted}-${next}`;
  taken.add(unique);
  return unique;
}

export function startOfText(args: Json, most: number): string {
  return shorten(JSON.stringify(args), most);
}

function shorten(text: string, most: number): string {
  const whole = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  return whole.length <= most ? whole : `${whole.slice(0, most).replace(/\p{Surrogate}/gu, '')}…`;
}

const limitMs = 1_000;

/** Adds the sentence of the tool's `describe` to each call that can run. History records the sentence (I12). */
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

/** Returns the sentence of the tool's `describe`. If `describe` fails or is too slow, logs it and returns undefined. */
async function describe(tool: Tool, args: JsonObject): Promise<string | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    // Give `describe` a copy, so that it cannot change the arguments that are shown, hashed and executed (I8).
    const describing = Promise.resolve().then(() => tool.describe!(structuredClone(args)));
    const sentence: unknown = await Promise.race([describing, aborted(limit)]);
    if (typeof sentence !== 'string') throw new TypeError(`expected a text, not ${typeof sentence}`);
    return oneSentence(sentence) || undefined;
  } catch (error) {
    // Log only the error's type: its message may have values of arguments, which must not be logged (I13).
    const failure = error instanceof Error ? error.name : typeof error;
    const what = limit.aborted ? `it took longer than ${limitMs} ms` : failure;
    Context.current().log.warn(`describe of tool '${tool.name}' gave no sentence: ${what}`);
    return undefined;
  }
}
