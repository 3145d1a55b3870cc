import { OpenAPIHono, z } from '@hono/zod-openapi';
import { recordsOf } from 'countersign/adapter';
import type { PushApp } from 'countersign/channels';
import { ProblemError } from 'countersign/base';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { body, pushEndpoint, pushSubscription } from '../shapes/input-shapes.ts';
import { type Principal, requirePrincipal } from '../identity/principal.ts';

const subscribe = defineRoute('POST /push/subscribe', {
  summary: 'Send requests that wait for you to this browser, also while no inbox is open in it',
  request: body(pushSubscription),
  responses: { 204: { description: 'Subscribed, for 30 days' } },
});
const unsubscribe = defineRoute('POST /push/unsubscribe', {
  summary: 'Send them no more',
  request: body(z.strictObject({ endpoint: pushEndpoint })),
  responses: { 204: { description: 'There is no such subscription of yours any more' } },
});

/** The routes with which browsers subscribe to web push. A browser gets the key for a subscription from `GET /me`. */
export function pushRoutes({ client, push }: GatewayContext): OpenAPIHono<HttpEnv> {
  const records = recordsOf(client.session);
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput() })
    .openapi(subscribe, async (context) => {
      const person = inBrowser(requirePrincipal(context.var));
      await requirePush(push).subscribe(person, context.req.valid('json'), records);
      return context.body(null, 204);
    })
    .openapi(unsubscribe, async (context) => {
      const person = inBrowser(requirePrincipal(context.var));
      await requirePush(push).unsubscribe(person, context.req.valid('json').endpoint, records);
      return context.body(null, 204);
    });
}

/** Throws `forbidden` unless the sender has a session of a browser, because a subscription belongs to a browser. */
function inBrowser(principal: Principal): Principal {
  if (principal.via === 'session') return principal;
  const message = 'Only a browser in which a person is signed in can subscribe.';
  throw new ProblemError({ code: 'forbidden', message });
}

function requirePush(push: PushApp | undefined): PushApp {
  if (push !== undefined) return push;
  throw new ProblemError({ code: 'forbidden', message: 'This gateway has no web push: see docs/web-push.md.' });
}
