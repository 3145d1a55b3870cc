import { OpenAPIHono, z } from '@hono/zod-openapi';
import { callServer } from 'countersign/adapter';
import { isProblemError, type Problem } from 'countersign/base';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { problemResponse } from '../responses.ts';
import * as answers from '../shapes/response-shapes.ts';

const keptMs = 1_000;

const health = z.object({ status: z.literal('ok') }).openapi('Health');
const ok = (description: string) => ({ 200: answers.json(health, description) });

const healthz = defineRoute('GET /healthz', { summary: 'Whether the process lives', responses: ok('It lives.') });
const readyz = defineRoute('GET /readyz', {
  summary: 'Whether the Temporal server answers',
  responses: ok('Requests can be served.'),
});

export function healthRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const why = readiness(gateway);
  return new OpenAPIHono<HttpEnv>()
    .openapi(healthz, (context) => context.json({ status: 'ok' }))
    .openapi(readyz, async (context) => {
      const problem = await why();
      return problem === undefined ? context.json({ status: 'ok' }) : problemResponse(problem);
    });
}

/** Returns a function that says why the gateway cannot serve requests now. It asks Temporal at most once a second. */
function readiness({ client, stopping }: GatewayContext): () => Promise<Problem | undefined> {
  const { session } = client;
  let latest: { atMs: number; answer: Promise<Problem | undefined> } | undefined;
  const askServer = async (): Promise<Problem | undefined> => {
    try {
      const { connection, namespace } = session;
      await callServer(session, () => connection.workflowService.describeNamespace({ namespace }), {
        timeoutMs: session.limits.glanceTimeoutMs,
      });
      return undefined;
    } catch (error) {
      if (isProblemError(error)) return { code: 'server_unreachable', message: error.message };
      throw error;
    }
  };
  return async () => {
    if (stopping.aborted) return { code: 'server_unreachable', message: 'This gateway is stopping.' };
    if (latest === undefined || Date.now() - latest.atMs > keptMs) {
      const current = { atMs: Infinity, answer: askServer() };
      latest = current;
      // The time counts from the answer, so that a server that does not respond gets no further queries.
      void current.answer.finally(() => (current.atMs = Date.now())).catch(() => undefined);
    }
    return latest.answer;
  };
}
