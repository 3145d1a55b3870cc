import { isProblemError } from 'countersign/base';
import type { CountersignClient } from 'countersign/client';

/** Shows each answer of a session's model, until the run ends or `signal` aborts. */
export async function watchAnswers(
  client: CountersignClient,
  workflowId: string,
  signal: AbortSignal,
  show: (answer: string) => void,
): Promise<void> {
  try {
    for await (const event of client.events(workflowId, { tokens: false, signal })) {
      if (event.type !== 'RunItemEvent' || event.item.type !== 'message') continue;
      if (event.item.role === 'assistant') show(event.item.content);
    }
  } catch (error) {
    // Waiting for the result reports the error.
    if (!isProblemError(error)) throw error;
  }
}
