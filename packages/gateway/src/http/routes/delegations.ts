import { OpenAPIHono } from '@hono/zod-openapi';
import type { DelegationUntil, Receipt } from 'countersign/client';
import type { Delegations } from '../inbox/api.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { requirePrincipal } from '../identity/principal.ts';
import { sendAs } from '../send-as.ts';
import { delegatedAll, delegationList, json, receipt } from '../shapes/response-shapes.ts';
import { body, delegateAllBody, reasonBody } from '../shapes/input-shapes.ts';

const delegateAll = defineRoute('POST /delegations', {
  summary: 'Give your seats in all open requests to another person, and, until a date, those in new ones',
  request: body(delegateAllBody),
  responses: { 200: json(delegatedAll, 'A receipt for each request; a refused one has a code.') },
});

const list = defineRoute('GET /delegations', {
  summary: 'Your delegations until a date',
  responses: { 200: json(delegationList, 'Empty: nothing.') },
});

const stop = defineRoute('DELETE /delegations', {
  summary: 'End your delegation until a date',
  request: body(reasonBody, false),
  responses: { 200: json(receipt, 'New requests stay with you.') },
});

/** Delegations of everything that a person may answer. Each person delegates for themselves alone. */
export function delegationRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  return new OpenAPIHono<HttpEnv>()
    .openapi(delegateAll, async (context) => {
      const principal = requirePrincipal(context.var);
      const delegation: DelegationUntil = { ...context.req.valid('json'), by: principal.id };
      const all = await client.delegateAll(delegation, {
        send: (message, workflowId) =>
          sendAs(gateway, principal, (sign) => client.delegate(message, { workflowId, sign })),
      });
      return context.json(all);
    })
    .openapi(list, async (context) => {
      const standing = await client.standingDelegations.list(requirePrincipal(context.var).id);
      return context.json({ standing } satisfies Delegations);
    })
    .openapi(stop, async (context) => {
      const { id } = requirePrincipal(context.var);
      const { reason: why } = context.req.valid('json');
      await client.standingDelegations.stop(id, `by ${id.slice(0, 90)}${why === undefined ? '' : `: ${why}`}`);
      const ended: Receipt = { requestId: '', accepted: true, message: `new requests for '${id}' stay with them` };
      return context.json(ended);
    });
}
