import { OpenAPIHono, z } from '@hono/zod-openapi';
import { requireGated } from 'countersign/adapter';
import { redacted } from 'countersign/audit';
import type { Receipt, SetPolicyMessage } from 'countersign/client';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { linesResponse } from '../responses/html-response.ts';
import {
  idempotencyKeyOf,
  body,
  idempotencyHeader,
  messageBody,
  policyBody,
  reasonBody,
  runParams,
  shortReason,
} from '../shapes/input-shapes.ts';
import { requirePrincipal, requireUserOf } from '../identity/principal.ts';
import { sendAs } from '../send-as.ts';
import { grantList, json, receipt, text } from '../shapes/response-shapes.ts';

const done = (description: string) => ({ 200: json(receipt, description) });
const params = runParams;

const message = defineRoute('POST /runs/{id}/messages', {
  summary: "The next message of a session's user, a retry of the failed turn, or a stop of the running turn",
  request: { params, headers: idempotencyHeader, ...body(messageBody) },
  responses: done('The model receives the message before its next turn, or is called again, or the turn stops.'),
});

const cancel = defineRoute('POST /runs/{id}/cancel', {
  summary: 'Stop a run: open requests are cancelled, running tools are asked to stop',
  request: { params, ...body(reasonBody, false) },
  responses: done('The run is asked to stop.'),
});

const close = defineRoute('POST /runs/{id}/close', {
  summary: 'End a run: open requests are cancelled, running tools finish first',
  request: { params, headers: idempotencyHeader, ...body(reasonBody, false) },
  responses: done('The run is closing.'),
});

const setPolicy = defineRoute('PUT /runs/{id}/policy', {
  summary: "Change the run's side of the policy, below its ceiling",
  request: { params, headers: idempotencyHeader, ...body(policyBody) },
  responses: done('The policy is in force.'),
});

const grants = defineRoute('GET /runs/{id}/grants', {
  summary: 'The grants of a run, standing denials included',
  request: { params },
  responses: { 200: json(grantList, 'The grants.') },
});

const revoke = defineRoute('DELETE /runs/{id}/grants/{grantId}', {
  summary: 'End a grant',
  request: {
    params: z.strictObject({ id: z.string(), grantId: z.string() }),
    query: z.strictObject({ reason: shortReason }),
    headers: idempotencyHeader,
  },
  responses: done('It answers no more calls.'),
});

const audit = defineRoute('GET /runs/{id}/audit', {
  summary: 'The audit of a run, as verifiable JSON lines',
  request: { params, query: z.strictObject({ redact: z.enum(['true', 'false']).optional() }) },
  responses: { 200: text('application/jsonl', 'One line of JSON each.') },
});

/** Changes to a run besides answers to its requests, and its audit. */
export function controlRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  return new OpenAPIHono<HttpEnv>()
    .openapi(message, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      const messageId = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      await requireGated(client.session, id);
      await requireUserOf(client, principal, id);
      return context.json(await client.message(id, { ...context.req.valid('json'), by: principal.id, messageId }));
    })
    .openapi(cancel, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      const { reason: why = '' } = context.req.valid('json');
      await requireGated(client.session, id);
      await client.cancel(id, { reason: `by ${principal.id.slice(0, 90)}${why === '' ? '' : `: ${why}`}` });
      const asked: Receipt = { requestId: '', accepted: true, message: `run '${id}' is asked to stop` };
      return context.json(asked);
    })
    .openapi(close, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      const messageId = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      await requireGated(client.session, id);
      return context.json(await client.closeRun(id, { ...context.req.valid('json'), by: principal.id, messageId }));
    })
    .openapi(setPolicy, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      const messageId = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      await requireGated(client.session, id);
      const change = { ...context.req.valid('json'), by: principal.id, messageId } as SetPolicyMessage;
      return context.json(await sendAs(gateway, principal, (sign) => client.setPolicy(id, change, { sign })));
    })
    .openapi(grants, async (context) => {
      const { id } = context.req.valid('param');
      await requireGated(client.session, id);
      return context.json({ grants: await client.grants(id) });
    })
    .openapi(revoke, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id, grantId } = context.req.valid('param');
      const { reason: why } = context.req.valid('query');
      const messageId = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      await requireGated(client.session, id);
      const revocation = { grants: [grantId], by: principal.id, reason: why, messageId };
      return context.json(await sendAs(gateway, principal, (sign) => client.revoke(id, revocation, { sign })));
    })
    .openapi(audit, async (context) => {
      const { id } = context.req.valid('param');
      const withhold = context.req.valid('query').redact === 'true' ? redacted : [];
      await requireGated(client.session, id);
      return linesResponse(client.audit(id, { withhold }));
    });
}
