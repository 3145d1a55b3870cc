import { OpenAPIHono, z } from '@hono/zod-openapi';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext } from '../gateway-context.ts';
import type { HttpEnv } from '../http-env.ts';
import { problemResponse } from '../responses/problem-response.ts';
import { readiness } from './readiness.ts';
import { json } from '../shapes/response-shapes.ts';

const health = z.object({ status: z.literal('ok') }).openapi('Health');
const ok = (description: string) => ({ 200: json(health, description) });

const healthz = defineRoute('GET /healthz', { summary: 'Whether the process lives', responses: ok('It lives.') });
const readyz = defineRoute('GET /readyz', {
  summary: 'Whether the Temporal server answers',
  responses: ok('Requests can be served.'),
});

/** Health checks for load balancers. */
export function healthRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const why = readiness(gateway);
  return new OpenAPIHono<HttpEnv>()
    .openapi(healthz, (context) => context.json({ status: 'ok' }))
    .openapi(readyz, async (context) => {
      const problem = await why();
      return problem === undefined ? context.json({ status: 'ok' }) : problemResponse(problem);
    });
}
