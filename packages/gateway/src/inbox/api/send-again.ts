import { ApiProblem } from './fetch-json.ts';

const waitsMs = [500, 2_000];

/** True if nobody knows whether the message arrived: the same one may be sent again. */
export function isAnswerLost(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 502 || error.status === 504);
}

/** What to tell then of an answer to a request. */
export const answerLostText =
  'The gateway did not say whether it has your answer. Sending it again is safe: it counts once.';

/** Sends a message that has an id of its own, again if its answer is lost. */
export async function sendAgain<T>(send: () => Promise<T>): Promise<T> {
  for (const waitMs of waitsMs) {
    try {
      return await send();
    } catch (error) {
      if (!isAnswerLost(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return send();
}
