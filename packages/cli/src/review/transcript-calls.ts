import { queryRun, queryNames } from 'countersign/adapter';
import { isProblemError, isObject, type JsonObject } from 'countersign/base';
import type { CountersignClient, Message } from 'countersign/client';

/**
 * The arguments of this run's past calls of a tool, as the model wrote them, oldest first. Undefined if they cannot be
 * read, as for workflows that are no agent runs.
 */
export async function readPastCalls(
  client: CountersignClient,
  workflowId: string,
  tool: string,
): Promise<JsonObject[] | undefined> {
  try {
    return transcriptCalls(await queryRun<Message[]>(client.session, workflowId, queryNames.transcript), tool);
  } catch (error) {
    if (isProblemError(error)) return undefined;
    throw error;
  }
}

/** The calls of a tool that have an answer in the transcript. Models reuse ids, so an answer belongs to the last turn. */
export function transcriptCalls(transcript: readonly Message[], tool: string): JsonObject[] {
  const calls: JsonObject[] = [];
  let open = new Map<string, JsonObject>();
  for (const message of transcript) {
    if (message.role === 'assistant') {
      const own = (message.toolCalls ?? []).filter(({ name }) => name === tool);
      open = new Map(own.flatMap(({ id, arguments: args }) => (isObject(args) ? [[id, args]] : [])));
    } else if (message.role === 'tool') {
      const args = open.get(message.toolCallId);
      if (args !== undefined) calls.push(args);
      open.delete(message.toolCallId);
    }
  }
  return calls;
}
