import type { Tool } from '../agents/definitions.ts';
import { validateArguments } from '../agents/define-tool.ts';
import type { FoundTools } from './find-tools.ts';
import { splitShell } from '../shell/split.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { maxCallsOfTurn, type RawCall, type RawTurn } from '../models/turn-builder.ts';
import { unfinishedOf, unfinishedText } from '../core/base/model-answer.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import { parseArguments } from '../models/parse-object.ts';
import type { ModelCall } from './model-turn.ts';

const longestName = 128;
/** How many characters of arguments that cannot be parsed the transcript keeps. */
const longestRawText = 2_000;
const oneTooMany = `Error: only the first ${maxCallsOfTurn} calls of a turn are taken: make this one, and those after it, in the next turn`;

/**
 * Turns the calls of a raw turn into the run's form. `toolNamed` finds the tools of the run's agent, and `whyNot` says why it
 * does not find one. A call that cannot run has a sentence for the model; nothing here throws. `argumentBytes`: the maximum
 * size of one call's raw arguments.
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

async function checkCall(
  call: RawCall,
  finishReason: string,
  { toolNamed, whyNot }: FoundTools,
  argumentBytes: number,
): Promise<Omit<ModelCall, 'id' | 'tool'>> {
  const tool = toolNamed(call.tool);
  const parsed = parseArguments(call.arguments, argumentBytes);
  const raw = 'args' in parsed ? parsed.args : shorten(call.arguments, longestRawText);
  // The missing rest of the answer may have held another call, or a text that belongs to this one.
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

/** Results are matched to calls by id: a missing or repeated id would give two calls the same answer. */
function uniqueId(id: string, taken: Set<string>): string {
  const wished = shorten(id, longestName) || 'call';
  let unique = wished;
  for (let next = 2; taken.has(unique); next++) unique = `${wished}-${next}`;
  taken.add(unique);
  return unique;
}

/** The start of the arguments' text, kept for a call that exceeds a limit. */
export function startOfText(args: Json, most: number): string {
  return shorten(JSON.stringify(args), most);
}

function shorten(text: string, most: number): string {
  const whole = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  return whole.length <= most ? whole : `${whole.slice(0, most).replace(/\p{Surrogate}/gu, '')}…`;
}
