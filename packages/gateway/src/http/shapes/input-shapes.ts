/** The schemas that validate the input of routes. The OpenAPI document shows them. */
import { z } from '@hono/zod-openapi';
import { modes, grantKinds } from 'countersign/policy';
import { createHash } from 'node:crypto';
import { decisionBounds } from 'countersign/adapter';
import { ProblemError, viewedBounds } from 'countersign/base';
import type { Principal } from '../identity/principal.ts';
import type { DecisionBody } from '../inbox/api.ts';

export const body = <Schema extends z.ZodType>(schema: Schema, required = true) => ({
  body: { required, content: { 'application/json': { schema } } },
});

/** The query `?workflowId=`, which names the run of a request. Without it, the gateway searches for the run. */
export const inRun = z.strictObject({ workflowId: z.string().min(1).max(1_000).optional() });

/** The schema of a whole number in a query, whose parameters are strings. */
export function wholeNumberQuery(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,6}$/, `expected a whole number from ${least} to ${most}`)
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .openapi({ type: 'integer', minimum: least, maximum: most });
}

export const requestParams = z.strictObject({ requestId: z.string() });
export const runParams = z.strictObject({ id: z.string() });
export const threadParams = z.object({ agent: z.string().min(1).max(200), thread: z.string().min(1).max(500) });

/** The header `Idempotency-Key`, which makes a retry count once. */
export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(120)
    .regex(/^[\x21-\x7e]+$/)
    .optional(),
});

const text = (most: number) => z.string().max(most);
export const reason = text(decisionBounds.reason).optional();
/** A reason in a query. It is short because an address has at most 16 kB, and one character needs up to 12 bytes. */
export const shortReason = text(500).optional();

export const grantScope = z
  .strictObject({
    kind: z.enum(grantKinds),
    match: z.record(z.string(), z.string()).optional(),
    expiresIn: z.string().optional(),
    uses: z.int().min(1).max(1_000_000).optional(),
  })
  .openapi('GrantScope');

export const digest = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex characters');
const requestId = z.string().regex(/^[0-9a-f]{32}$/, 'expected the 32 hex characters of a request');
const anyObject = z.record(z.string(), z.unknown());

const viewed = z.strictObject({
  channel: z.string().min(1).max(viewedBounds.channel).optional(),
  card: digest.optional(),
  preview: digest.optional(),
  durationMs: z.int().min(0).max(viewedBounds.durationMs).optional(),
  userMessages: z.int().min(0).max(viewedBounds.userMessages).optional(),
});

export const decisionBody = z
  .strictObject({
    approved: z.boolean(),
    always: z.union([z.boolean(), grantScope]).optional(),
    reason,
    modifiedArguments: anyObject.optional(),
    response: z.unknown().optional(),
    digest: digest.optional(),
    decisionId: z.string().min(1).max(120).optional(),
    viewed: viewed.optional(),
  } satisfies Record<keyof DecisionBody, z.ZodType>)
  .openapi('DecisionBody');

const answerMembers = {
  requestId: requestId.nullish(),
  reviewerId: text(decisionBounds.reviewerId).nullish(),
  modifiedArguments: anyObject.nullish(),
  userMessages: viewed.shape.userMessages.nullable(),
};

/** An answer of a channel's receiver. The schema is for the OpenAPI document only: the channel reads the body. */
export const channelAnswer = z
  .strictObject({
    approved: z.boolean(),
    always: decisionBody.shape.always.nullable(),
    reason: reason.nullable(),
    response: z.unknown().optional(),
    digest,
    ...answerMembers,
    request_id: answerMembers.requestId,
    reviewer_id: answerMembers.reviewerId,
    modified_arguments: answerMembers.modifiedArguments,
    user_messages: answerMembers.userMessages,
    timestamp: z.unknown().optional(),
  })
  .openapi('ChannelAnswer', {
    description:
      'As a webhook reads it: `requestId` and each other member in one of its spellings. `null` is absent, and `timestamp` is not used.',
  });

export const batchBody = z
  .strictObject({
    requests: z
      // The workflow ids are required, because searching for 200 runs would keep the gateway busy for minutes.
      .array(z.strictObject({ requestId, digest, workflowId: z.string().min(1).max(1_000) }))
      .min(1)
      .max(200),
    approved: z.boolean(),
    reason,
    decisionId: z.string().min(1).max(120).optional(),
    viewed: viewed.omit({ card: true, preview: true }).optional(),
  })
  .openapi('BatchBody');

export const extendBody = z
  .strictObject({ until: text(100).openapi({ format: 'date-time' }), reason })
  .openapi('ExtendBody');
export const delegateBody = z.strictObject({ to: text(200), reason }).openapi('DelegateBody');
export const delegateAllBody = z
  .strictObject({ to: text(200), until: text(40).optional(), reason })
  .openapi('DelegateAllBody');
export const moveBody = z.strictObject({ from: text(200), to: text(200), reason: text(2_000) }).openapi('MoveBody');
export const matchesBody = z.strictObject({ scope: grantScope }).openapi('MatchesBody');

const base64url = (bytes: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[\\w-]{${Math.ceil((bytes * 4) / 3)}}$`),
      `expected ${bytes} bytes as base64url without padding`,
    );
export const pushEndpoint = z.url({ protocol: /^https$/, message: 'expected an https URL' }).max(1_000);
export const pushSubscription = z
  .strictObject({ endpoint: pushEndpoint, keys: z.strictObject({ p256dh: base64url(65), auth: base64url(16) }) })
  .openapi('PushSubscription');

/** The files of a message. The run checks media types and addresses. */
const files = z
  .array(
    z.strictObject({ mediaType: z.string(), url: z.string(), filename: z.string().optional(), at: z.int().optional() }),
  )
  .min(1)
  .max(20);
const userMessage = z.strictObject({ role: z.literal('user'), content: z.string(), files: files.optional() });

/** The body of `POST /runs`. All messages are of the user: one of the assistant would claim a past that never was. */
export const startBody = z
  .strictObject({
    agent: z.string().min(1).max(200),
    input: z.union([z.string(), z.array(userMessage).min(1)]),
    policy: anyObject.optional(),
    mode: z.enum(modes).optional(),
    metadata: anyObject.optional(),
    caller: z
      .strictObject({ userId: z.string().min(1).max(200), groups: z.array(z.string().max(200)).max(200).optional() })
      .optional(),
    session: z.boolean().optional(),
  })
  .openapi('StartBody');

export const reasonBody = z.strictObject({ reason: text(900).optional() }).openapi('ReasonBody');
export const policyBody = z
  .strictObject({ policy: anyObject.optional(), mode: z.enum(modes).optional(), reason })
  .openapi('PolicyBody');
export const messageBody = z
  .union([
    z.strictObject({ content: z.string().min(1).max(100_000) }),
    z.strictObject({ content: z.string().max(100_000), files }),
    z.strictObject({ retry: z.literal(true) }),
    z.strictObject({ stop: z.literal(true) }),
  ])
  .openapi('MessageBody');

/**
 * The idempotency key of a request: the header, or the id in the body; undefined without both. It begins with a hash of
 * the person, so that keys of different people never collide. Throws `invalid_message` if header and body differ.
 */
export function idempotencyKeyOf(person: Principal, header: string | undefined, inBody?: string): string | undefined {
  if (header !== undefined && inBody !== undefined && header !== inBody) {
    const message = 'The header Idempotency-Key and the id in the body differ: give one of them.';
    throw new ProblemError({ code: 'invalid_message', message });
  }
  const key = header ?? inBody;
  if (key === undefined) return undefined;
  const owner = createHash('sha256').update(person.key).digest('hex').slice(0, 16);
  return `${owner}-${key}`;
}
