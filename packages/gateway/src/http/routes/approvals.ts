import { OpenAPIHono, z } from '@hono/zod-openapi';
import { deliveriesOf, requireGated } from 'countersign/adapter';
import { cardDigest, cardOf, scopeSteps } from 'countersign/card';
import type { ApprovalDetails, Session } from 'countersign/client';
import type { InboxPage, ApprovalView } from '../inbox/api.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { readBy, sharedRow, waitsForOne } from '../inbox/inbox-row.ts';
import { requirePrincipal } from '../identity/principal.ts';
import * as answers from '../shapes/response-shapes.ts';
import * as inputs from '../shapes/input-shapes.ts';

const filter = z.strictObject({
  tool: z.string().max(200).optional(),
  agent: z.string().max(200).optional(),
  workflowId: z.string().min(1).max(1_000).optional(),
  limit: inputs.wholeNumberQuery(1, 500).optional(),
  after: z
    .string()
    .max(4_000)
    .regex(/^[\w-]+$/, 'expected the `next` of the page before')
    .optional(),
});

const list = defineRoute('GET /approvals', {
  summary: 'The open requests of all runs, the earliest deadline first',
  request: { query: filter },
  responses: { 200: answers.json(answers.inboxPage, 'A page of the inbox.') },
});

const get = defineRoute('GET /approvals/{requestId}', {
  summary: 'One request, open or settled, with its card',
  request: { params: inputs.requestParams, query: inputs.inRun },
  responses: { 200: answers.json(answers.requestView, 'The request.') },
});

export function approvalRoutes({ client }: GatewayContext): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>()
    .openapi(list, async (context) => {
      const query = context.req.valid('query');
      // The sender chooses this id, so it may name any workflow of the namespace.
      if (query.workflowId !== undefined) await requireGated(client.session, query.workflowId);
      const { approvals, more, next, unread } = await client.approvals.list(query);
      const principal = requirePrincipal(context.var);
      const page: InboxPage = {
        approvals: approvals.map((row) => readBy(sharedRow(row), principal)),
        more,
        ...(next !== undefined && { next }),
        unread,
      };
      return context.json(page);
    })
    .openapi(get, async (context) => {
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      if (workflowId !== undefined) await requireGated(client.session, workflowId);
      const request = await client.approvals.get(requestId, { workflowId });
      const card = cardOf(request, { nowMs: Date.now() });
      const view: ApprovalView = {
        request,
        card,
        cardDigest: cardDigest(card),
        waitsFor: waitsForOne(requirePrincipal(context.var), request),
        ...scopesOf(request),
        ...(await onChannels(client.session, request)),
      };
      return context.json(view);
    });
}

/** Whether channels failed to deliver an open request, or delay it. Empty if their workflow does not answer at once. */
async function onChannels(
  session: Session,
  { requestId, workflowId, settled, channels }: ApprovalDetails,
): Promise<Pick<ApprovalView, 'undelivered' | 'heldUntil'>> {
  if (settled !== undefined || channels === undefined) return {};
  const { deliveries = [] } = await deliveriesOf(session, workflowId, session.limits.glanceTimeoutMs);
  const { undelivered, heldUntil } = deliveries.find((each) => each.requestId === requestId) ?? {};
  return { ...(undelivered && { undelivered }), ...(heldUntil !== undefined && { heldUntil }) };
}

/** The scopes for approving later calls, too, if any. None with hidden values: reviewers must see what they approve. */
function scopesOf({ toolName: tool, arguments: args, always: terms, redacted }: ApprovalDetails) {
  return terms === undefined || redacted !== undefined ? {} : { scopes: scopeSteps({ tool, args, terms }) };
}
