import { callServer } from 'countersign/adapter';
import { isProblemError, type Problem } from 'countersign/base';
import type { GatewayContext } from '../gateway-context.ts';

/** The time-out of one call of the server, and how long its result is reused, in milliseconds. */
const lookMs = 2_000;
const keptMs = 1_000;

/** Says why requests cannot be served now; undefined if they can. Asks the server at most once a second. */
export function readiness({ client, stopping }: GatewayContext): () => Promise<Problem | undefined> {
  const { session } = client;
  let last: { atMs: number; answer: Promise<Problem | undefined> } | undefined;
  const look = async (): Promise<Problem | undefined> => {
    try {
      const { connection, namespace } = session;
      await callServer(session, () => connection.workflowService.describeNamespace({ namespace }), {
        timeoutMs: lookMs,
      });
      return undefined;
    } catch (error) {
      if (isProblemError(error)) return { code: 'server_unreachable', message: error.message };
      throw error;
    }
  };
  return async () => {
    if (stopping.aborted) return { code: 'server_unreachable', message: 'This gateway is stopping.' };
    if (last === undefined || Date.now() - last.atMs > keptMs) {
      const current = { atMs: Infinity, answer: look() };
      last = current;
      // The time counts from the answer, so a silent server is not asked again.
      void current.answer.finally(() => (current.atMs = Date.now())).catch(() => undefined);
    }
    return last.answer;
  };
}
