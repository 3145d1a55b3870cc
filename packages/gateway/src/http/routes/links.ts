import { OpenAPIHono, z } from '@hono/zod-openapi';
import {
  isSamePerson,
  personKeyIn,
  requireGated,
  decisionIdOf,
  linkExpiry,
  linkUrl,
  openLink,
  sealLink,
  type Link,
} from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { json, page } from '../shapes/response-shapes.ts';
import type { MadeLink } from '../inbox/api.ts';
import { decideFor } from '../send-as.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import type { IdentityService } from '../identity/identity-service.ts';
import { personName } from '../identity/claims.ts';
import { body, digest, inRun, requestParams } from '../shapes/input-shapes.ts';
import { asPage, answeredPage, earlierPage, questionPage, tooLate } from '../links/link-page.ts';
import { type Principal, requirePrincipal } from '../identity/principal.ts';
import { ownOrigin } from '../site.ts';

const linkBody = z.strictObject({
  reviewer: z.string().max(200),
  digest: digest
    .optional()
    .openapi({ description: 'What was shown with the link; refused if the request has another.' }),
  expiresAt: z.string().max(40).optional(),
});
const answerForm = z.strictObject({
  answer: z.enum(['approve', 'deny']),
  reason: z.string().max(2_000).optional(),
  card: digest.optional(),
  userMessages: z.coerce.number().int().min(0).max(100).optional(),
});
const linkParams = z.strictObject({ link: z.string().max(8_000) });

const make = defineRoute('POST /approvals/{requestId}/links', {
  summary: 'Make a link by which one person can answer one request',
  request: { params: requestParams, query: inRun, ...body(linkBody) },
  responses: { 201: json(z.object({ url: z.string(), expiresAt: z.string() }).openapi('MadeLink'), 'The link.') },
});
const show = defineRoute('GET /links/{link}', {
  summary: 'The request of a link, as a page; decides nothing',
  request: { params: linkParams },
  responses: { 200: page('A page') },
});
const answer = defineRoute('POST /links/{link}', {
  summary: 'Answer by a link, once',
  request: {
    params: linkParams,
    body: { required: true, content: { 'application/x-www-form-urlencoded': { schema: answerForm } } },
  },
  responses: { 200: page('A page with the decision') },
});

/** The routes of links. A person who has a link answers once, as the reviewer of the link, on a page. */
export function linkRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client, identity, site, log } = gateway;
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput() })
    .openapi(make, async (context) => {
      const maker = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId: knownRun } = context.req.valid('query');
      const { reviewer, digest: seen, expiresAt } = context.req.valid('json');
      const { seals, origin } = linksOf(identity, ownOrigin(site, context.req.raw));
      const { name, problem } = personName(reviewer);
      if (name === undefined) throw new ProblemError({ code: 'arguments_invalid', message: `'reviewer' ${problem}.` });
      if (knownRun !== undefined) await requireGated(client.session, knownRun);
      const request = await client.approvals.get(requestId, { workflowId: knownRun });
      requireSame(request, seen ?? request.digest);
      requireOther(maker, request);
      if (request.settled !== undefined) {
        throw new ProblemError({ code: 'already_settled', message: 'The request was answered already.' });
      }
      const expiresMs = linkExpiry(request, expiresAt);
      const { workflowId } = request;
      const link = await sealLink(seals, { requestId, workflowId, digest: request.digest, reviewer: name }, expiresMs);
      log(`${maker.id} made a link for ${name} to request ${requestId}.`);
      const made = { url: linkUrl(origin, link), expiresAt: new Date(expiresMs).toISOString() };
      return context.json(made satisfies MadeLink, 201);
    })
    .openapi(show, (context) =>
      asPage(context.req.raw, async () => {
        const text = context.req.valid('param').link;
        const link = await openLink(identity?.seals, text);
        const request = await requestOf(gateway, link);
        return earlierPage(request, link.reviewer, decisionIdOf(text)) ?? questionPage(request, text, link.reviewer);
      }),
    )
    .openapi(answer, (context) =>
      asPage(context.req.raw, async () => {
        const text = context.req.valid('param').link;
        const { answer: given, reason = '', card, userMessages } = context.req.valid('form');
        const link = await openLink(identity?.seals, text);
        const { requestId, workflowId, digest: shown, reviewer } = link;
        const decisionId = decisionIdOf(text);
        const earlier = earlierPage(await requestOf(gateway, link), reviewer, decisionId);
        if (earlier !== undefined && earlier.status !== tooLate) return earlier;
        const decision = {
          requestId,
          approved: given === 'approve',
          digest: shown,
          decisionId,
          reviewerId: reviewer,
          ...(reason.trim() !== '' && { reason }),
          viewed: { channel: 'link', card, userMessages },
        };
        // This decision is never signed, because a person with a link has not authenticated.
        const answered = decideFor(gateway, reviewer, decision, workflowId);
        // A late answer is sent, too, so that the run or the log records it. The page shows the earlier outcome.
        if (earlier !== undefined)
          return answered.then(
            () => earlier,
            () => earlier,
          );
        return answeredPage('Your answer counts', (await answered).message);
      }),
    );
}

/** What the gateway needs to make a link. Throws `forbidden` if its identity file lacks what links need. */
function linksOf(
  identity: IdentityService | undefined,
  origin: string | undefined,
): Pick<IdentityService, 'seals'> & { origin: string } {
  if (identity?.hasLinkKey && origin !== undefined) return { seals: identity.seals, origin };
  const message = `This gateway makes no links: its identity file needs 'public_url' and a key of 'links' or 'sessions'.`;
  throw new ProblemError({ code: 'forbidden', message });
}

async function requestOf({ client }: GatewayContext, link: Link): Promise<ApprovalDetails> {
  const request = await client.approvals.get(link.requestId, { workflowId: link.workflowId });
  requireSame(request, link.digest);
  return request;
}

/** Throws if the sender may have started the run of the request, because they could approve the call by the link. */
function requireOther({ id, actsForOthers }: Principal, request: ApprovalDetails): void {
  if (actsForOthers === true) {
    const message = 'A service that starts runs for others makes no links: it could answer for its own runs.';
    throw new ProblemError({ code: 'forbidden', message });
  }
  if (!isSamePerson(request.callerUserId, id, personKeyIn(request))) return;
  const message = 'You cannot make a link for a call of your own run: another person has to.';
  throw new ProblemError({ code: 'self_approval', message });
}

function requireSame(request: ApprovalDetails, digest: string): void {
  if (request.digest === digest) return;
  const message = 'The request is not the one that was shown: ask for another link.';
  throw new ProblemError({ code: 'digest_mismatch', message });
}
