import { OpenAPIHono } from '@hono/zod-openapi';
import { coveredCalls, requireGated, personKey, queryNames, queryRun, inParallel } from 'countersign/adapter';
import type { DelegateMessage, Receipt, Decision, DelegationUntil } from 'countersign/client';
import { isProblemError } from 'countersign/base';
import type { Policy } from 'countersign/policy';
import { type Principal, requirePrincipal } from '../identity/principal.ts';
import type { Matches, RequestPeople, Receipts, Delegations } from '../inbox/api.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import * as inputs from '../shapes/input-shapes.ts';
import { sendAs, decideAllAs, decideAs } from '../send-as.ts';
import * as answers from '../shapes/response-shapes.ts';

const message = { params: inputs.requestParams, query: inputs.inRun, headers: inputs.idempotencyHeader };

const extend = defineRoute('POST /approvals/{requestId}/extend', {
  summary: 'Give a request more time',
  request: { ...message, ...inputs.body(inputs.extendBody) },
  responses: { 200: answers.json(answers.receipt, 'It has more time.') },
});

const delegate = defineRoute('POST /approvals/{requestId}/delegate', {
  summary: 'Give your seat among the reviewers of a request to another person',
  request: { ...message, ...inputs.body(inputs.delegateBody) },
  responses: { 200: answers.json(answers.receipt, 'They have your seat.') },
});

const move = defineRoute('POST /approvals/{requestId}/move', {
  summary: "Move one person's seat among the reviewers of a request to another, with a reason",
  request: { ...message, ...inputs.body(inputs.moveBody) },
  responses: { 200: answers.json(answers.receipt, 'They have the seat.') },
});

const people = defineRoute('GET /approvals/{requestId}/people', {
  summary: 'The people to whom a seat among the reviewers of a request can be given',
  request: { params: inputs.requestParams, query: inputs.inRun },
  responses: { 200: answers.json(answers.requestPeople, 'The people.') },
});

const match = defineRoute('POST /approvals/{requestId}/matches', {
  summary: 'Which past calls an "always" with this scope would have answered',
  request: { params: inputs.requestParams, query: inputs.inRun, ...inputs.body(inputs.matchesBody) },
  responses: { 200: answers.json(answers.matchList, 'The calls.') },
});

/** The routes about one request, other than decisions: more time, other reviewers, and what an "always" would cover. */
export function requestRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  const delegateAs = async (
    principal: Principal,
    delegation: Pick<DelegateMessage, 'requestId' | 'to' | 'from' | 'reason'>,
    workflowId: string | undefined,
    idempotencyKey: string | undefined,
  ): Promise<Receipt> => {
    if (workflowId !== undefined) await requireGated(client.session, workflowId);
    const whole = { ...delegation, by: principal.id, messageId: inputs.idempotencyKeyOf(principal, idempotencyKey) };
    return sendAs(gateway, principal, (sign) => client.delegate(whole, { workflowId, sign }));
  };
  return new OpenAPIHono<HttpEnv>()
    .openapi(extend, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const messageId = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      if (workflowId !== undefined) await requireGated(client.session, workflowId);
      const extension = { ...context.req.valid('json'), requestId, by: principal.id, messageId };
      return context.json(await sendAs(gateway, principal, (sign) => client.extend(extension, { workflowId, sign })));
    })
    .openapi(delegate, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const key = context.req.valid('header')['idempotency-key'];
      return context.json(await delegateAs(principal, { ...context.req.valid('json'), requestId }, workflowId, key));
    })
    .openapi(move, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const key = context.req.valid('header')['idempotency-key'];
      return context.json(await delegateAs(principal, { ...context.req.valid('json'), requestId }, workflowId, key));
    })
    .openapi(people, async (context) => {
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      if (workflowId !== undefined) await requireGated(client.session, workflowId);
      const run = workflowId ?? (await client.approvals.get(requestId)).workflowId;
      return context.json(await requestPeople(gateway, run));
    })
    .openapi(match, async (context) => {
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const { scope } = context.req.valid('json');
      if (workflowId !== undefined) await requireGated(client.session, workflowId);
      const request = await client.approvals.get(requestId, { workflowId });
      return context.json((await coveredCalls(client, request, scope)) satisfies Matches);
    });
}

const mostPeople = 2_000;

type Known = RequestPeople['people'][number];

/**
 * The people who can become reviewers of a run's requests: those in the directories of its policies, and the reviewers
 * of the identity file. The list is incomplete if an identity provider may know more, if the run does not answer, if
 * more than `mostPeople` are known, or if none is.
 */
async function requestPeople(
  { client, identity }: Pick<GatewayContext, 'client' | 'identity'>,
  workflowId: string,
): Promise<RequestPeople> {
  const ofRun = await directoryOf(client, workflowId);
  const ofGateway = (identity?.reviewers ?? []).map(({ id, groups }) => ({ id, groups: [...groups] }));
  // People of a directory replace those of the identity file, because a directory also has display names.
  const known = new Map([...ofGateway, ...(ofRun ?? [])].map((person) => [personKey(person.id), person]));
  const people = [...known.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const isComplete =
    ofRun !== undefined && identity?.openId === undefined && people.length > 0 && people.length <= mostPeople;
  return { people: people.slice(0, mostPeople), isComplete };
}

/** The people in the directories of a run's policies; undefined if the run does not answer the query. */
async function directoryOf(client: GatewayContext['client'], workflowId: string): Promise<Known[] | undefined> {
  try {
    const policies = await queryRun<{ ceiling?: Policy; run?: Policy } | null>(
      client.session,
      workflowId,
      queryNames.policy,
    );
    return [policies?.ceiling, policies?.run].flatMap((layer) =>
      Object.entries(layer?.directory?.people ?? {}).map(([id, { name, groups }]) => ({
        id,
        ...(name !== undefined && { name }),
        groups: [...groups],
      })),
    );
  } catch (error) {
    if (isProblemError(error)) return undefined;
    throw error;
  }
}

const approve = defineRoute('POST /approve/{requestId}', {
  summary: 'Answer one request',
  request: {
    params: inputs.requestParams,
    query: inputs.inRun,
    headers: inputs.idempotencyHeader,
    ...inputs.body(inputs.decisionBody),
  },
  responses: { 200: answers.json(answers.receipt, 'The decision counts.') },
});

const decide = defineRoute('POST /approvals/decide', {
  summary: 'Give one answer to exactly the requests that were reviewed',
  request: { headers: inputs.idempotencyHeader, ...inputs.body(inputs.batchBody) },
  responses: { 200: answers.json(answers.receipts, 'A receipt for each, in order; a refused one has a code.') },
});

const runsAtOnce = 8;

/** The routes of decisions. The reviewer is always the authenticated sender, never a name in the body. */
export function decisionRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput('invalid_decision') })
    .openapi(approve, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const { decisionId: given, viewed, ...answer } = context.req.valid('json');
      const decisionId = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key'], given);
      if (workflowId !== undefined) await requireGated(client.session, workflowId);
      // The cast is safe: the client validates the decision again, and so does the run.
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
      const decisionId = inputs.idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key'], given);
      // Requests of workflows that are no runs get a refusal here, and only the others are sent.
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

/** The named workflows that are no runs of Countersign, each with the error that says so. */
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

const delegateAll = defineRoute('POST /delegations', {
  summary: 'Give your seats in all open requests to another person, and, until a date, those in new ones',
  request: inputs.body(inputs.delegateAllBody),
  responses: { 200: answers.json(answers.delegatedAll, 'A receipt for each request; a refused one has a code.') },
});

const list = defineRoute('GET /delegations', {
  summary: 'Your delegations until a date',
  responses: { 200: answers.json(answers.delegationList, 'Empty: nothing.') },
});

const stop = defineRoute('DELETE /delegations', {
  summary: 'End your delegation until a date',
  request: inputs.body(inputs.reasonBody, false),
  responses: { 200: answers.json(answers.receipt, 'New requests stay with you.') },
});

/** The routes by which a person delegates all that they may answer: open requests, and new ones until a date. */
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
