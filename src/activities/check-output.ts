import { ApplicationFailure } from '@temporalio/common';
import type { Agent } from '../agents/definitions.ts';
import { parseWith } from '../agents/tool-schema.ts';
import { unfinishedOf, unfinishedText } from '../core/base/model-answer.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { parseObject } from '../models/parse-object.ts';
import { quote } from '../models/quote.ts';
import type { RawTurn } from '../models/turn-builder.ts';
import type { CallModelInput, CallModelResult, KeptMessage } from './model-turn.ts';

/** In bytes. A turn and a run's result hold the text, in which JSON escapes each quote, and the value: both fit inline. */
const maxOutputBytes = 400_000;
/** How often a model is asked again, counted from the last message of its user. */
const mostCorrections = 2;

/**
 * Reads a final answer by the agent's `output`: its value, or one sentence that says what does not fit. After two
 * corrections throws a failure that is not retried, because the model would be asked the same again.
 */
export async function checkOutput(
  turn: Pick<RawTurn, 'text' | 'calls' | 'finishReason'>,
  { name, output }: Pick<Agent, 'name' | 'output'>,
  { messages }: Pick<CallModelInput, 'messages'>,
): Promise<Pick<CallModelResult, 'structuredOutput' | 'outputProblem'>> {
  if (output === undefined || turn.calls.length > 0) return {};
  const read = await readOutput(turn, { name, output });
  if ('value' in read) return { structuredOutput: read.value };
  if (correctionsIn(messages) < mostCorrections) return { outputProblem: read.problem };
  throw ApplicationFailure.nonRetryable(
    `The answer of agent '${name}' does not fit its output after ${mostCorrections} corrections (${quote(read.problem)}).`,
    'model_output_invalid',
  );
}

async function readOutput(
  { text, finishReason }: Pick<RawTurn, 'text' | 'finishReason'>,
  { name, output }: Pick<Required<Agent>, 'name' | 'output'>,
): Promise<{ value: JsonObject } | { problem: string }> {
  // A text that was cut off may be whole JSON by chance.
  const unfinished = unfinishedOf(finishReason);
  if (unfinished !== undefined) return { problem: `output: ${unfinishedText(unfinished)}` };
  if (text.trim() === '') return { problem: 'output: expected JSON, got no text' };
  const parsed = parseObject('output', text, maxOutputBytes);
  if ('problem' in parsed) return parsed;
  try {
    const valid = await parseWith('output', output, parsed.value);
    const bytes = 'value' in valid ? Buffer.byteLength(JSON.stringify(valid.value)) : 0;
    if (bytes <= maxOutputBytes) return valid;
    return { problem: `output: ${bytes} bytes with its defaults, expected at most ${maxOutputBytes}` };
  } catch {
    // A custom check threw. Its message is for the author, not for a model.
    return { problem: `output: a check of agent '${name}' failed on it` };
  }
}

function correctionsIn(messages: readonly KeptMessage[]): number {
  const said = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(said + 1).filter((each) => 'outputProblem' in each).length;
}
