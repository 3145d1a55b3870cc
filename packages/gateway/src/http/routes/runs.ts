import { OpenAPIHono, z } from '@hono/zod-openapi';
import { listedStatuses, requireGated } from 'countersign/adapter';
import { ProblemError, nfc, type JsonObject } from 'countersign/base';
import type { RunList, ShownRun, StartedRun } from '../inbox/api.ts';
import { checkPolicy } from '../shapes/check-policy.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext } from '../gateway-context.ts';
import type { HttpEnv } from '../http-env.ts';
import { idempotencyKeyOf } from '../shapes/idempotency-key.ts';
import type { Principal } from '../identity/principal.ts';
import { isUserOf } from '../identity/session-sender.ts';
import { shownRun } from '../shapes/shown-run.ts';
import { requirePrincipal } from '../identity/require-principal.ts';
import { json, runJournal, runList, runView, startedRun } from '../shapes/response-shapes.ts';
import { body, idempotencyHeader, runParams, startBody, wholeNumberQuery } from '../shapes/input-shapes.ts';

const start = defineRoute('POST /runs', {
  summary: 'Start a run of an agent',
  request: { headers: idempotencyHeader, ...body(startBody) },
  responses: { 201: json(startedRun, 'It runs. The same idempotency key gives the same run.') },
});

const list = defineRoute('GET /runs', {
  summary: 'The newest runs',
  request: {
    query: z.strictObject({
      status: z.enum(listedStatuses).optional(),
      agent: z.string().max(200).optional(),
      limit: wholeNumberQuery(1, 500).optional(),
    }),
  },
  responses: { 200: json(runList, 'The newest first.') },
});

const show = defineRoute('GET /runs/{id}', {
  summary: 'The present state of a run',
  request: { params: runParams },
  responses: { 200: json(runView, 'The run.') },
});

const journal = defineRoute('GET /runs/{id}/journal', {
  summary: 'What was decided in a run',
  request: { params: runParams },
  responses: { 200: json(runJournal, 'Every entry of its journal.') },
});

/** The most runs that are looked at for one page: an agent without runs must not cost a look at all of them. */
const mostLooked = 1_000;

/** Starting runs, and looking at them. */
export function runRoutes({ client }: GatewayContext): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>()
    .openapi(start, async (context) => {
      const principal = requirePrincipal(context.var);
      const { agent, input, policy, mode, metadata, caller, session } = context.req.valid('json');
      checkPolicy(principal, { policy, mode });
      const idempotencyKey = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      const { workflowId } = await client.start(agent, input, {
        policy: policy as JsonObject | undefined,
        mode,
        metadata: metadata as JsonObject | undefined,
        caller: callerOf(principal, caller),
        session,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
      return context.json({ workflowId } satisfies StartedRun, 201);
    })
    .openapi(list, async (context) => {
      const { status, agent, limit = 100 } = context.req.valid('query');
      const wanted = nfc(agent);
      const found: RunList = { runs: [], more: false };
      let looked = 0;
      for await (const run of client.runs({ ...(status !== undefined && { status }), limit: mostLooked })) {
        looked += 1;
        if (wanted !== undefined && run.agent !== wanted) continue;
        found.more = found.runs.length === limit;
        if (found.more) break;
        found.runs.push(run);
      }
      found.more ||= looked === mostLooked;
      return context.json(found);
    })
    .openapi(show, async (context) => {
      const { id } = context.req.valid('param');
      await requireGated(client.session, id);
      const shown: ShownRun = await shownRun(client, id);
      const takesMessages = shown.closedAt === undefined && (await isUserOf(client, requirePrincipal(context.var), id));
      return context.json({ ...shown, ...(takesMessages && { takesMessages }) });
    })
    .openapi(journal, async (context) => {
      const { id } = context.req.valid('param');
      await requireGated(client.session, id);
      const { entries, missing, unread } = await client.journal(id);
      return context.json({ entries, missing, unread });
    });
}

/** For whom a run works: the sender, unless they may speak for others. */
function callerOf(principal: Principal, named: { userId: string; groups?: string[] | undefined } | undefined) {
  if (named === undefined) {
    // Without authentication everybody is one person, who could not approve the calls of a run of their own.
    return principal.via === 'local' ? undefined : { userId: principal.id, groups: [...principal.groups] };
  }
  if (principal.via === 'local' || principal.actsForOthers === true) return named;
  const message = `'caller' is the sender of this request: leave it out.`;
  throw new ProblemError({ code: 'forbidden', message });
}
