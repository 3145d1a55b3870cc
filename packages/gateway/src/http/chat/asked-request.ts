import { visibleText } from 'countersign/base';
import { cardOf } from 'countersign/card';
import type { CountersignClient, ApprovalRequestEvent } from 'countersign/client';
import type { AskedRequest } from './chat-step.ts';

/**
 * A request as a front end shows it. What it shows comes from the redacted request; the event alone, which holds less, is
 * used while no worker answers.
 */
export async function askedRequest(
  client: CountersignClient,
  event: ApprovalRequestEvent,
  { answerId, callId }: { answerId: string; callId: string },
): Promise<AskedRequest> {
  const { requestId, workflowId, toolName, digest, deadline } = event;
  const details = await client.approvals.get(requestId, { workflowId }).catch(() => undefined);
  const base = { answerId, requestId, workflowId, callId, toolName, digest };
  if (details === undefined) {
    const message = `'${visibleText(toolName)}' waits for an answer.`;
    return { ...base, arguments: event.arguments, message, deadline };
  }
  const { sentence, warnings } = cardOf(details);
  return {
    ...base,
    arguments: details.arguments,
    message: [sentence.text, ...warnings].join('\n'),
    deadline: details.deadline,
    details,
    ...(details.schema !== undefined && { schema: details.schema }),
  };
}
