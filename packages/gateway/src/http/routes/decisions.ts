import { OpenAPIHono } from '@hono/zod-openapi';
import { inParallel, requireGated } from 'countersign/adapter';
import { isProblemError } from 'countersign/base';
import type { Decision, Receipt } from 'countersign/client';
import type { Receipts } from '../inbox/api.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import { decideAllAs, decideAs } from '../send-as.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import {
  idempotencyKeyOf,
  batchBody,
  body,
  decisionBody,
  idempotencyHeader,
  inRun,
  requestParams,
} from '../shapes/input-shapes.ts';
import { requirePrincipal } from '../identity/principal.ts';
import { json, receipt, receipts } from '../shapes/response-shapes.ts';

const approve = defineRoute('POST /approve/{requestId}', {
  summary: 'Answer one request',
  request: { params: requestParams, query: inRun, headers: idempotencyHeader, ...body(decisionBody) },
  responses: { 200: json(receipt, 'The decision counts.') },
});

const decide = defineRoute('POST /approvals/decide', {
  summary: 'Give one answer to exactly the requests that were reviewed',
  request: { headers: idempotencyHeader, ...body(batchBody) },
  responses: { 200: json(receipts, 'A receipt for each, in order; a refused one has a code.') },
});

/** How many runs are looked up at the same time. */
const runsAtOnce = 8;

/** Decisions. The reviewer is always the authenticated sender, not a name in the body. */
export function decisionRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput('invalid_decision') })
    .openapi(approve, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const { decisionId: given, viewed, ...answer } = context.req.valid('json');
      const decisionId = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key'], given);
      if (workflowId !== undefined) await requireGated(client.session, workflowId);
      // The client validates the decision again, as the run does.
      const decision = {
        ...answer,
        requestId,
        reviewerId: principal.id,
        viewed: { channel: 'http', ...viewed },
        ...(decisionId !== undefined && { decisionId }),
      } as Decision;
      const answered = await decideAs(gateway, principal, decision, workflowId);
      return context.json(answered);
    })
    .openapi(decide, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requests, decisionId: given, viewed, ...answer } = context.req.valid('json');
      const decisionId = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key'], given);
      const foreign = await foreignRuns(gateway, requests);
      const gated = requests.filter(({ workflowId }) => !foreign.has(workflowId));
      const common = {
        ...answer,
        reviewerId: principal.id,
        viewed: { channel: 'http', ...viewed, batch: requests.length },
        ...(decisionId !== undefined && { decisionId }),
      };
      const answers = await decideAllAs(gateway, principal, gated, common);
      const inOrder = requests.map((request): Receipt => {
        const refused = foreign.get(request.workflowId);
        return refused === undefined
          ? answers[gated.indexOf(request)]!
          : { requestId: request.requestId, accepted: false, code: refused.code, message: refused.message };
      });
      return context.json({ receipts: inOrder } satisfies Receipts);
    });
}

/** The named runs that have no gate, each with its refusal. */
async function foreignRuns({ client }: GatewayContext, requests: readonly { workflowId: string }[]) {
  const named = new Set(requests.map(({ workflowId }) => workflowId));
  const checked = await inParallel([...named], runsAtOnce, async (workflowId) => {
    try {
      await requireGated(client.session, workflowId);
      return [];
    } catch (error) {
      if (!isProblemError(error)) throw error;
      return [[workflowId, error] as const];
    }
  });
  return new Map(checked.flat());
}
