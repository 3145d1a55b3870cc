import { OpenAPIHono, z } from '@hono/zod-openapi';
import { isSamePerson, listedStatuses, requireGated, startOf } from 'countersign/adapter';
import { looksLike, ProblemError, nearestName, nfc, type JsonObject, visibleText } from 'countersign/base';
import { parseRunPolicy, beyondDenying, type Mode, type Policy } from 'countersign/policy';
import type {
  CountersignClient,
  ListedRun,
  RunView,
  RunCompleteEvent,
  Receipt,
  SetPolicyMessage,
} from 'countersign/client';
import { redacted } from 'countersign/audit';
import { searchWords } from '../inbox/open-view.ts';
import type { AgentList, RunList, ShownRun, StartedRun } from '../inbox/api.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import * as inputs from '../shapes/input-shapes.ts';
import { type Principal, isUserOf, requirePrincipal, requireUserOf } from '../identity/principal.ts';
import * as answers from '../shapes/response-shapes.ts';
import { linesResponse } from '../responses.ts';
import { sendAs } from '../send-as.ts';

const start = defineRoute('POST /runs', {
  summary: 'Start a run of an agent',
  request: { headers: inputs.idempotencyHeader, ...inputs.body(inputs.startBody) },
  responses: { 201: answers.json(answers.startedRun, 'It runs. The same idempotency key gives the same run.') },
});

const agents = defineRoute('GET /agents', {
  summary: 'The agents that can be started, as far as the gateway knows them',
  responses: { 200: answers.json(answers.agentList, "The worker's agents, else those of the newest runs.") },
});

const list = defineRoute('GET /runs', {
  summary: 'The newest runs',
  request: {
    query: z.strictObject({
      status: z.enum(listedStatuses).optional(),
      agent: z.string().max(200).optional(),
      text: z.string().max(200).optional(),
      mine: z.literal('true').optional(),
      limit: inputs.wholeNumberQuery(1, 500).optional(),
    }),
  },
  responses: { 200: answers.json(answers.runList, 'The newest first.') },
});

const show = defineRoute('GET /runs/{id}', {
  summary: 'The present state of a run',
  request: { params: inputs.runParams },
  responses: { 200: answers.json(answers.runView, 'The run.') },
});

const journal = defineRoute('GET /runs/{id}/journal', {
  summary: 'What was decided in a run',
  request: { params: inputs.runParams },
  responses: { 200: answers.json(answers.runJournal, 'Every entry of its journal.') },
});

/** The most runs that are read for one page. A filter that matches nothing must not read all runs. */
const mostLooked = 1_000;

/** The number of newest runs whose agents `GET /agents` lists if the worker is not known. */
const mostOfNewest = 100;

export function runRoutes({ client, worker }: GatewayContext): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>()
    .openapi(start, async (context) => {
      const principal = requirePrincipal(context.var);
      const { agent, input, policy, mode, metadata, caller, session } = context.req.valid('json');
      checkAgent(agent, worker()?.agents);
      checkPolicy(principal, { policy, mode });
      const idempotencyKey = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
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
    .openapi(agents, async (context) => {
      const known = worker()?.agents;
      if (known !== undefined) {
        return context.json({ agents: known.toSorted(), complete: true } satisfies AgentList, 200);
      }
      const names = new Set<string>();
      for await (const run of client.runs({ limit: mostOfNewest })) if (run.agent !== undefined) names.add(run.agent);
      return context.json({ agents: [...names].sort(), complete: false } satisfies AgentList, 200);
    })
    .openapi(list, async (context) => {
      const { status, agent, text: search = '', mine, limit = 100 } = context.req.valid('query');
      const wanted = nfc(agent);
      const words = searchWords(search);
      const caller = mine === undefined ? undefined : requirePrincipal(context.var).id;
      const found: RunList = { runs: [], more: false };
      let looked = 0;
      for await (const run of client.runs({
        ...(status !== undefined && { status }),
        limit: mostLooked,
        redacted: true,
      })) {
        looked += 1;
        if (wanted !== undefined && run.agent !== wanted) continue;
        if (caller !== undefined && !isSamePerson(run.callerUserId, caller)) continue;
        if (!hasWords(run, words)) continue;
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
      const [start, run] = await Promise.all([startOf(client.session, { workflowId: id }, true), shownRun(client, id)]);
      const shown: ShownRun = { ...run, ...start };
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

/** True if each word occurs in the task, the agent, the caller, the type or the id of a run. */
function hasWords({ workflowId, workflowType, agent = '', callerUserId = '', task = '' }: ListedRun, words: string[]) {
  if (words.length === 0) return true;
  const searched = looksLike(nfc([workflowId, workflowType, agent, callerUserId, task].join('\n')));
  return words.every((word) => searched.includes(word));
}

/** Throws `agent_unknown`, with a list of the worker's agents, if the worker is known and has no such agent. */
function checkAgent(named: string, known: readonly string[] | undefined): void {
  if (known === undefined || known.some((name) => nfc(name) === nfc(named))) return;
  const nearest = nearestName(named, known);
  const remedy = nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
  const all = known.length === 0 ? 'none' : known.map((name) => `'${name}'`).join(', ');
  const message = `There is no agent '${named.slice(0, 60)}'; the worker has: ${all}.${remedy}`;
  throw new ProblemError({ code: 'agent_unknown', message: visibleText(message).slice(0, longestDetail) });
}

/** The caller of a new run: the sender, unless they may name another person. Throws `forbidden` if they may not. */
function callerOf(principal: Principal, named: { userId: string; groups?: string[] | undefined } | undefined) {
  if (named === undefined) {
    // Without authentication, all senders are one person. As the caller, that person could not approve the run's calls.
    return principal.via === 'local' ? undefined : { userId: principal.id, groups: [...principal.groups] };
  }
  if (principal.via === 'local' || principal.actsForOthers === true) return named;
  const message = `'caller' is the sender of this request: leave it out.`;
  throw new ProblemError({ code: 'forbidden', message });
}

const mostShown = 5;
const longestDetail = 1_000;

/**
 * Validates the policy in the body of `POST /runs`. Throws `policy_invalid`, with the places of the first mistakes, or
 * `forbidden` if the sender is no operator and the policy could loosen the agent's policy. The worker later checks the
 * timeouts, because only the worker knows the longest allowed timeout.
 */
function checkPolicy(principal: Principal, start: { policy?: object | undefined; mode?: Mode | undefined }): void {
  const policy = start.policy === undefined ? undefined : checked(start.policy);
  if (principal.roles.includes('operator')) return;
  const place = beyondDenying({ policy, mode: start.mode });
  if (place === undefined) return;
  const why = 'it could loosen what its agent says';
  const remedy = `leave it out, write a rule that denies, or have a person with the role operator start the run`;
  const message = `body.${place}: with the role starter, a run's policy may only deny, because ${why}: ${remedy}.`;
  throw new ProblemError({ code: 'forbidden', message: visibleText(message).slice(0, longestDetail) });
}

/** The parsed policy. Throws `policy_invalid` with the first mistakes and their places. */
function checked(policy: object): Policy {
  const parsed = parseRunPolicy(policy, { maxTimeoutMs: null });
  if ('policy' in parsed) return parsed.policy;
  const shown = parsed.problems.slice(0, mostShown).map(({ path, message }) => {
    return `${path === '' ? 'body.policy' : `body.policy.${path}`}: ${message}`;
  });
  const more = parsed.problems.length - shown.length;
  const message = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  throw new ProblemError({ code: 'policy_invalid', message: visibleText(message).slice(0, longestDetail) });
}

/** A run without what its policies hide from reviewers. Its final texts come from its redacted events. */
export async function shownRun(client: CountersignClient, workflowId: string): Promise<RunView> {
  const { result, returned: _, failure, retrying, ...view } = await client.show(workflowId);
  // The message of a failed attempt may contain arguments, so it is replaced.
  const shown: RunView = {
    ...view,
    ...(retrying !== undefined && {
      retrying: retrying.map((each) => ({ ...each, message: each.type ?? 'it failed' })),
    }),
  };
  if (view.closedAt === undefined) return shown;
  const end = await endOf(client, workflowId);
  const ending = shownResult(result, end);
  return {
    ...shown,
    ...(ending !== undefined && { result: ending }),
    ...(failure !== undefined && { failure: end?.failure ?? { ...failure, message: 'The run failed.' } }),
  };
}

/** A run's result with the final texts of the redacted event `end`. Undefined if the workflow has another result. */
function shownResult(
  { status, usage, nestedUsage, cost, outcomes }: Partial<NonNullable<RunView['result']>> = {},
  { output = '', structuredOutput }: Partial<RunCompleteEvent> = {},
): RunView['result'] {
  if (status === undefined || usage === undefined || outcomes === undefined) return undefined;
  return {
    status,
    output,
    ...(structuredOutput !== undefined && { structuredOutput }),
    ...(nestedUsage !== undefined && { nestedUsage }),
    ...(cost !== undefined && { cost }),
    usage,
    outcomes,
  };
}

async function endOf(client: CountersignClient, workflowId: string): Promise<RunCompleteEvent | undefined> {
  let end: RunCompleteEvent | undefined;
  for await (const event of client.events(workflowId, { follow: false, redacted: true })) {
    if (event.type === 'RunCompleteEvent') end = event;
  }
  return end;
}

const done = (description: string) => ({ 200: answers.json(answers.receipt, description) });
const params = inputs.runParams;

const message = defineRoute('POST /runs/{id}/messages', {
  summary: "The next message of a session's user, a retry of the failed turn, or a stop of the running turn",
  request: { params, headers: inputs.idempotencyHeader, ...inputs.body(inputs.messageBody) },
  responses: done('The model receives the message before its next turn, or is called again, or the turn stops.'),
});

const cancel = defineRoute('POST /runs/{id}/cancel', {
  summary: 'Stop a run: open requests are cancelled, running tools are asked to stop',
  request: { params, ...inputs.body(inputs.reasonBody, false) },
  responses: done('The run is asked to stop.'),
});

const close = defineRoute('POST /runs/{id}/close', {
  summary: 'End a run: open requests are cancelled, running tools finish first',
  request: { params, headers: inputs.idempotencyHeader, ...inputs.body(inputs.reasonBody, false) },
  responses: done('The run is closing.'),
});

const setPolicy = defineRoute('PUT /runs/{id}/policy', {
  summary: "Change the run's side of the policy, below its ceiling",
  request: { params, headers: inputs.idempotencyHeader, ...inputs.body(inputs.policyBody) },
  responses: done('The policy is in force.'),
});

const grants = defineRoute('GET /runs/{id}/grants', {
  summary: 'The grants of a run, standing denials included',
  request: { params },
  responses: { 200: answers.json(answers.grantList, 'The grants.') },
});

const revoke = defineRoute('DELETE /runs/{id}/grants/{grantId}', {
  summary: 'End a grant',
  request: {
    params: z.strictObject({ id: z.string(), grantId: z.string() }),
    query: z.strictObject({ reason: inputs.shortReason }),
    headers: inputs.idempotencyHeader,
  },
  responses: done('It answers no more calls.'),
});

const audit = defineRoute('GET /runs/{id}/audit', {
  summary: 'The audit of a run, as verifiable JSON lines',
  request: { params, query: z.strictObject({ redact: z.enum(['true', 'false']).optional() }) },
  responses: { 200: answers.text('application/jsonl', 'One line of JSON each.') },
});

/** The routes that steer a run by messages, its end, its policy and its grants; and the route of its audit. */
export function controlRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  return new OpenAPIHono<HttpEnv>()
    .openapi(message, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      const messageId = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      await requireGated(client.session, id);
      await requireUserOf(client, principal, id);
      return context.json(await client.message(id, { ...context.req.valid('json'), by: principal.id, messageId }));
    })
    .openapi(cancel, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      // A reason of a sender has at most 900 characters, and with the id, it must not exceed 1,000.
      const { reason: why = '' } = context.req.valid('json');
      await requireGated(client.session, id);
      await client.cancel(id, { reason: `by ${principal.id.slice(0, 90)}${why === '' ? '' : `: ${why}`}` });
      const asked: Receipt = { requestId: '', accepted: true, message: `run '${id}' is asked to stop` };
      return context.json(asked);
    })
    .openapi(close, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      const messageId = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      await requireGated(client.session, id);
      return context.json(await client.closeRun(id, { ...context.req.valid('json'), by: principal.id, messageId }));
    })
    .openapi(setPolicy, async (context) => {
      const principal = requirePrincipal(context.var);
      const { id } = context.req.valid('param');
      const messageId = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
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
      const messageId = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
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
