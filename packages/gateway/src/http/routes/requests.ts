import { OpenAPIHono } from '@hono/zod-openapi';
import { coveredCalls, requireGated, personKey, queryNames, queryRun } from 'countersign/adapter';
import type { DelegateMessage, Receipt } from 'countersign/client';
import { isProblemError } from 'countersign/base';
import type { Policy } from 'countersign/policy';
import { type Principal, requirePrincipal } from '../identity/principal.ts';
import type { Matches, RequestPeople } from '../inbox/api.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import {
  idempotencyKeyOf,
  body,
  delegateBody,
  extendBody,
  idempotencyHeader,
  inRun,
  matchesBody,
  moveBody,
  requestParams,
} from '../shapes/input-shapes.ts';
import { sendAs } from '../send-as.ts';
import { json, matchList, receipt, requestPeople as requestPeopleShape } from '../shapes/response-shapes.ts';

const message = { params: requestParams, query: inRun, headers: idempotencyHeader };

const extend = defineRoute('POST /approvals/{requestId}/extend', {
  summary: 'Give a request more time',
  request: { ...message, ...body(extendBody) },
  responses: { 200: json(receipt, 'It has more time.') },
});

const delegate = defineRoute('POST /approvals/{requestId}/delegate', {
  summary: 'Give your seat among the reviewers of a request to another person',
  request: { ...message, ...body(delegateBody) },
  responses: { 200: json(receipt, 'They have your seat.') },
});

const move = defineRoute('POST /approvals/{requestId}/move', {
  summary: "Move one person's seat among the reviewers of a request to another, with a reason",
  request: { ...message, ...body(moveBody) },
  responses: { 200: json(receipt, 'They have the seat.') },
});

const people = defineRoute('GET /approvals/{requestId}/people', {
  summary: 'The people to whom a seat among the reviewers of a request can be given',
  request: { params: requestParams, query: inRun },
  responses: { 200: json(requestPeopleShape, 'The people.') },
});

const match = defineRoute('POST /approvals/{requestId}/matches', {
  summary: 'Which past calls an "always" with this scope would have answered',
  request: { params: requestParams, query: inRun, ...body(matchesBody) },
  responses: { 200: json(matchList, 'The calls.') },
});

/** Actions of reviewers and operators on a request besides answering it. */
export function requestRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  /** Sends a delegation as this person. */
  const send = async (
    principal: Principal,
    delegation: Pick<DelegateMessage, 'requestId' | 'to' | 'from' | 'reason'>,
    workflowId: string | undefined,
    key: string | undefined,
  ): Promise<Receipt> => {
    if (workflowId !== undefined) await requireGated(client.session, workflowId);
    const whole = { ...delegation, by: principal.id, messageId: idempotencyKeyOf(principal, key) };
    return sendAs(gateway, principal, (sign) => client.delegate(whole, { workflowId, sign }));
  };
  return new OpenAPIHono<HttpEnv>()
    .openapi(extend, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const messageId = idempotencyKeyOf(principal, context.req.valid('header')['idempotency-key']);
      if (workflowId !== undefined) await requireGated(client.session, workflowId);
      const extension = { ...context.req.valid('json'), requestId, by: principal.id, messageId };
      return context.json(await sendAs(gateway, principal, (sign) => client.extend(extension, { workflowId, sign })));
    })
    .openapi(delegate, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const key = context.req.valid('header')['idempotency-key'];
      return context.json(await send(principal, { ...context.req.valid('json'), requestId }, workflowId, key));
    })
    .openapi(move, async (context) => {
      const principal = requirePrincipal(context.var);
      const { requestId } = context.req.valid('param');
      const { workflowId } = context.req.valid('query');
      const key = context.req.valid('header')['idempotency-key'];
      return context.json(await send(principal, { ...context.req.valid('json'), requestId }, workflowId, key));
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
 * The people who can get a seat in the requests of a run: those of the directories of its policies, and the reviewers
 * of the identity file. Not complete if an identity provider knows others, or if the run cannot be asked.
 */
async function requestPeople(
  { client, identity }: Pick<GatewayContext, 'client' | 'identity'>,
  workflowId: string,
): Promise<RequestPeople> {
  const ofRun = await directoryOf(client, workflowId);
  const ofGateway = (identity?.reviewers ?? []).map(({ id, groups }) => ({ id, groups: [...groups] }));
  // A directory knows a name, too.
  const known = new Map([...ofGateway, ...(ofRun ?? [])].map((person) => [personKey(person.id), person]));
  const people = [...known.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const isComplete =
    ofRun !== undefined && identity?.openId === undefined && people.length > 0 && people.length <= mostPeople;
  return { people: people.slice(0, mostPeople), isComplete };
}

/** Undefined: the run cannot be asked. */
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
