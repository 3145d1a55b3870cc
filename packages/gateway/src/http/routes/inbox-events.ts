import { OpenAPIHono } from '@hono/zod-openapi';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext } from '../gateway-context.ts';
import type { HttpEnv } from '../http-env.ts';
import { InboxFeed } from '../inbox/inbox-feed.ts';
import { requirePrincipal } from '../identity/require-principal.ts';
import { text } from '../shapes/response-shapes.ts';
import { sseFrame, sseResponse } from '../streams/sse-stream.ts';

const route = defineRoute('GET /approvals/events', {
  summary: 'The inbox as it changes',
  responses: {
    200: text(
      'text/event-stream',
      'Server-sent events: `snapshot` first, then `changed` and `gone`; `heartbeat` and `trouble`.',
    ),
  },
});

/** The inbox, live: one poller reads it for all viewers of this gateway. */
export function inboxEventRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const feed = new InboxFeed(gateway);
  return new OpenAPIHono<HttpEnv>().openapi(route, (context): Response => {
    const principal = requirePrincipal(context.var);
    return sseResponse(context, gateway, async (stream) => {
      for await (const { event, data } of feed.watch(principal, stream.signal)) {
        if (!(await stream.send(sseFrame(event, data)))) return;
      }
    });
  });
}
