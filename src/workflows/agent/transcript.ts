import type { CallModelResult, KeptMessage } from '../../activities/model-turn.ts';
import { type Message, type RunResult, newInput } from '../../contract.ts';
import { saidText, withoutData } from '../../core/base/user-files.ts';
import { unfinishedOf } from '../../core/base/model-answer.ts';
import type { TurnCall } from './run-state.ts';

/** Converts the model's answer to a message of the transcript. Arguments stay as the model wrote them. */
export function keptAnswer(
  { text, providerTurn, outputProblem }: CallModelResult,
  calls: readonly TurnCall[],
): KeptMessage {
  const toolCalls = calls.map(({ modelCallId: id, tool: name, written }) => ({ id, name, arguments: written }));
  return {
    role: 'assistant',
    content: text,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(providerTurn !== undefined && { providerTurn }),
    ...(outputProblem !== undefined && { outputProblem }),
  };
}

export function answerOf(each: TurnCall): Message {
  const { modelCallId: toolCallId, tool: toolName } = each;
  const { content = '', isError = false } = each.state === 'done' ? each : {};
  return { role: 'tool', toolCallId, toolName, content, ...(isError && { isError }) };
}

/** True for a final answer of the model: it calls no tool, and its output has no problem. */
export function isFinal(last: KeptMessage | undefined): boolean {
  return last?.role === 'assistant' && (last.toolCalls ?? []).length === 0 && last.outputProblem === undefined;
}

export function resultOf({
  finishReason,
  structuredOutput,
}: CallModelResult): Pick<RunResult, 'finish' | 'structuredOutput'> {
  const finish = unfinishedOf(finishReason);
  return { ...(finish !== undefined && { finish }), ...(structuredOutput !== undefined && { structuredOutput }) };
}

/** Marks the newest input as refused, so that the model does not receive it. */
export function withRefused(messages: readonly KeptMessage[]): KeptMessage[] {
  const from = messages.length - newInput(messages).length;
  return messages.map((each, index) => (each.role !== 'user' || index < from ? each : { ...each, refused: true }));
}

/** Returns the last message of the user or the model, as people read it; empty if there is none. */
export function lastText(messages: readonly Message[], by: 'user' | 'assistant'): string {
  const last = messages.findLast(({ role }) => role === by);
  return last === undefined ? '' : saidText(last);
}

/** Removes the data of files from messages, because it is too large for the answer of a query. */
export function withoutFileData(messages: readonly Message[]): Message[] {
  return messages.map((each) =>
    each.role === 'user' && each.files !== undefined ? { ...each, files: each.files.map(withoutData) } : each,
  );
}
