/** What a run accepts beside decisions (docs/wire.md). Readers never throw: any value gives a message or a sentence. */
import type { MessageSignature, ParsedDecision } from './decision.ts';
import { isRequestId, requestIdSentence, signatureProblem } from './decision.ts';
import { modes, type Mode } from '../policy/modes.ts';
import { jsonDigest } from '../base/digest.ts';
import { isObject, kindOf } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { readUserFiles, type UserFile } from '../base/user-files.ts';

/** The members of every message but a decision. The run keeps them as received, because signatures cover them. */
export interface ControlMessage {
  /** The sender's name. It is claimed, like a decision's `reviewerId`, unless a signature proves it. */
  by?: string;
  reason?: string;
  /** Makes a retry safe: the same id and content again changes nothing and gives the first receipt. */
  messageId?: string;
  signature?: MessageSignature;
}

/** Message `extend`: gives a request more time. */
export interface ExtendMessage extends ControlMessage {
  requestId: string;
  /** The new deadline: ISO 8601 with `Z` or an offset, after the present one. */
  until: string;
}

/** Message `delegate`: transfers the seat of `by`, or of `from`, among a request's reviewers to one person. */
export interface DelegateMessage extends ControlMessage {
  requestId: string;
  /** The name of the person who gets the seat. */
  to: string;
  /** An operator moves the seat of this person, and says why in `reason`. Default: `by` gives their own seat. */
  from?: string;
}

/** Message `revoke`: ends grants and standing denials. Calls that they have answered stay answered. */
export interface RevokeMessage extends ControlMessage {
  /** Ids of 1 to 100 grants, or all. `denied-TOOL` lifts reviewers' denials of a tool, which `all` does not. */
  grants: string[] | 'all';
}

/** Message `setPolicy`: changes the run's side of the policy. At least one member must be present. */
export interface SetPolicyMessage extends ControlMessage {
  /** A policy document: a policy file, as JSON. */
  policy?: JsonObject;
  mode?: Mode;
  /** The names of the channels that carry the run's requests from now on; an empty list: none does. */
  channels?: string[];
}

/** Message `message`: the next message of a session's user. It is not signed, because no rule depends on its author. */
export type UserMessage = Omit<ControlMessage, 'signature'> &
  (
    | {
        /** 1 to 100,000 characters; may be empty beside files. */
        content: string;
        /** 1 to 20 files, of kinds that the agent takes. */
        files?: UserFile[];
        retry?: never;
        stop?: never;
      }
    | {
        /** Instead of `content`: repeats the last call of the model, which failed. */
        retry: true;
        content?: never;
        files?: never;
        stop?: never;
      }
    | {
        /** Instead of `content`: ends the turn. No more calls of the turn start, and the run waits for its user. */
        stop: true;
        content?: never;
        files?: never;
        retry?: never;
      }
  );

/** Message `close`: ends a run. Every member is optional. */
export type CloseMessage = Pick<ControlMessage, 'by' | 'reason' | 'messageId'>;

type Read<Message> = { message: Message } | { problem: Problem };

const longest = { by: 200, reason: 2_000, to: 200, from: 200, messageId: 200 } as const;
/** The beginning of ids that are made from signatures. No `messageId` may begin with it. */
const bySignature = 'signature:';
const maxRevoked = 100;
const maxChannels = 20;
const longestChannel = 64;
const longestGrantId = 100;
/** The longest policy, in characters of JSON: an activity reads it, and continue-as-new carries it. */
const longestPolicy = 400_000;
/** The longest message of a user, in characters: the run keeps every message in its transcript. */
const longestContent = 100_000;
const insteadOfContent = ['retry', 'stop'] as const;

/** Reads an `extend`; else returns the first problem. */
export function readExtend(value: unknown): Read<ExtendMessage> {
  const fields = readFields(value, 'an extension', ['requestId', 'until']);
  if ('problem' in fields) return fields;
  const { requestId, until, ...signed } = fields.message;
  if (!isRequestId(requestId)) return invalid(requestIdSentence);
  if (instantMs(until) === undefined) {
    return invalid(`'until' must be an instant with its offset, such as 2030-01-31T12:00:00Z`);
  }
  return { message: { requestId, until: until as string, ...(signed as ControlMessage) } };
}

/** Reads a `delegate`, with or without `from`; else returns the first problem. */
export function readDelegate(value: unknown): Read<DelegateMessage> {
  const fields = readFields(value, 'a delegation', ['requestId', 'to', 'from']);
  if ('problem' in fields) return fields;
  const { requestId, to, from, ...signed } = fields.message;
  if (!isRequestId(requestId)) return invalid(requestIdSentence);
  if (!isPerson(to)) return invalid(`'to' must be the name of one person`);
  if (from === undefined) return { message: { requestId, to, ...(signed as ControlMessage) } };
  if (!isPerson(from)) return invalid(`'from' must be the name of one person`);
  return { message: { requestId, to, from, ...(signed as ControlMessage) } };
}

function isPerson(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !value.startsWith('group:');
}

/** Reads a `revoke`; else returns the first problem. The run checks whether it has the grants. */
export function readRevoke(value: unknown): Read<RevokeMessage> {
  const fields = readFields(value, 'a revocation', ['grants']);
  if ('problem' in fields) return fields;
  const { grants, ...signed } = fields.message;
  if (grants !== 'all' && !isListOfIds(grants)) {
    return invalid(`'grants' must be "all" or a list of 1 to ${maxRevoked} grant ids`);
  }
  return { message: { grants, ...(signed as ControlMessage) } };
}

/** Checks the form of a `setPolicy`. An activity reads the policy document in the message. */
export function readSetPolicy(value: unknown): Read<SetPolicyMessage> {
  const fields = readFields(value, 'a change of policy', ['policy', 'mode', 'channels']);
  if ('problem' in fields) return fields;
  const { policy, mode, channels } = fields.message;
  if (policy === undefined && mode === undefined && channels === undefined) {
    return invalidPolicy(`a change of policy needs 'policy', 'mode' or 'channels'`);
  }
  if (channels !== undefined && !isListOfNames(channels)) {
    return invalidPolicy(`'channels' must be a list of at most ${maxChannels} names of channels`);
  }
  if (policy !== undefined && !isObject(policy))
    return invalidPolicy(`'policy' must be an object, not ${kindOf(policy)}`);
  if (policy !== undefined && JSON.stringify(policy).length > longestPolicy) {
    return { problem: { code: 'too_large', message: `'policy' is longer than ${longestPolicy} characters of JSON` } };
  }
  if (mode !== undefined && !modes.some((known) => known === mode)) {
    return invalidPolicy(`'mode' must be one of ${modes.join(', ')}`);
  }
  return fields;
}

/** Reads a message of the user: text and files, or one of `retry` and `stop` instead. */
export function readUserMessage(value: unknown): Read<UserMessage> {
  const fields = readFields(value, 'a message of the user', ['content', 'files', ...insteadOfContent]);
  if ('problem' in fields) return fields;
  const { content, files, retry, stop, signature, ...rest } = fields.message;
  const claimed = rest as Pick<UserMessage, 'by' | 'reason' | 'messageId'>;
  if (signature !== undefined)
    return invalid(`a message of the user has no 'signature': nothing depends on who wrote it`);
  // Files are content, too, so they do not go with `retry` or `stop`.
  const kinds = [content ?? files, retry, stop].filter((field) => field !== undefined);
  if (kinds.length > 1) return invalid(`give one of 'content', 'retry' and 'stop'`);
  for (const name of insteadOfContent) {
    const field = fields.message[name];
    if (field === undefined) continue;
    if (field !== true) return invalid(`'${name}' must be true, not ${kindOf(field)}`);
    return { message: { [name]: true, ...claimed } as UserMessage };
  }
  if (typeof content !== 'string') return invalid(`'content' must be text, not ${kindOf(content)}`);
  if (content.trim() === '' && files === undefined) return invalid(`'content' is empty`);
  if (content.length > longestContent) {
    return { problem: { code: 'too_large', message: `'content' is longer than ${longestContent} characters` } };
  }
  if (files === undefined) return { message: { content, ...claimed } };
  const read = readUserFiles(files, content);
  return 'problem' in read ? read : { message: { content, ...read, ...claimed } };
}

/** The SHA-256 of the canonical JSON of `content`, `{ content, files }`, `{"retry":true}` or `{"stop":true}`. */
export function userMessageDigest({ content, files, retry }: UserMessage): string {
  if (files !== undefined) return jsonDigest({ content, files } as unknown as Json);
  return jsonDigest(content ?? (retry ? { retry } : { stop: true }));
}

export const stopDigest = jsonDigest({ stop: true });

export function readClose(value: unknown): Read<CloseMessage> {
  if (value === undefined || value === null) return { message: {} };
  return readFields(value, 'a close', []);
}

function isListOfNames(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length > maxChannels) return false;
  return value.every((name) => typeof name === 'string' && name !== '' && name.length <= longestChannel);
}

function isListOfIds(value: unknown): value is string[] {
  const isBounded = Array.isArray(value) && value.length > 0 && value.length <= maxRevoked;
  return isBounded && value.every((id) => typeof id === 'string' && id.length <= longestGrantId);
}

/** The fields of a message: those that all kinds have, and `own`. Any other field is refused, never ignored. */
function readFields(value: unknown, what: string, own: readonly string[]): Read<Record<string, unknown>> {
  if (!isObject(value)) return invalid(`${what} is an object, not ${kindOf(value)}`);
  const message: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    if (!own.includes(key) && !['by', 'reason', 'messageId', 'signature'].includes(key)) {
      return invalid(`unknown field '${key.slice(0, 40)}'`);
    }
    if (key === 'signature') {
      const problem = signatureProblem(field);
      if (problem !== undefined) return invalid(problem.message);
    }
    if (Object.hasOwn(longest, key)) {
      if (typeof field !== 'string') return invalid(`'${key}' must be text, not ${kindOf(field)}`);
      const most = longest[key as keyof typeof longest];
      if (field.length > most) {
        return { problem: { code: 'too_large', message: `'${key}' is longer than ${most} characters` } };
      }
      if (key === 'messageId' && field.startsWith(bySignature)) {
        return invalid(`'messageId' must not begin with '${bySignature}': ids that do are made of signatures`);
      }
    }
    message[key] = field;
  }
  return { message };
}

const instantShape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * The `messageId`, else an id made from the signature, because no process can add an id to a signed message.
 *
 * @example
 * messageIdOf({ signature: { keyId: 'k', signedAt: '2030-01-31T12:00:00Z', value: 'c2ln' } }); // => 'signature:c2ln'
 */
export function messageIdOf({
  messageId,
  signature,
}: Pick<ControlMessage, 'messageId' | 'signature'>): string | undefined {
  return messageId ?? (signature === undefined ? undefined : `${bySignature}${signature.value}`);
}

/** Milliseconds since 1970 of an ISO 8601 instant with `Z` or an offset; undefined for anything else. */
export function instantMs(value: unknown): number | undefined {
  if (typeof value !== 'string' || !instantShape.test(value)) return undefined;
  // oxlint-disable-next-line no-restricted-globals -- parses a given date; reads no clock
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : atMs;
}

function invalid(message: string): { problem: Problem } {
  return { problem: { code: 'invalid_message', message } };
}

function invalidPolicy(message: string): { problem: Problem } {
  return { problem: { code: 'policy_invalid', message } };
}

/**
 * Identifies the content of a decision. Of the signature, only the key counts: it determines the verified sender, and
 * a retry may be signed again (docs/decisions/0016). `reviewerName` does not count: no decision depends on it.
 */
export function decisionDigest(decision: ParsedDecision): string {
  const { reviewerName: _, ...content } = decision;
  return jsonDigest(withoutProof(content) as unknown as Json);
}

/** Identifies the content of any other message. `name`: its signal. Of the signature, only the key counts. */
export function contentDigest(name: string, message: ControlMessage): string {
  return jsonDigest({ name, message: withoutProof(message) } as unknown as Json);
}

/** The message with its signature reduced to the id of the key. */
function withoutProof(message: Pick<ControlMessage, 'signature'>): object {
  const { signature } = message;
  return signature === undefined ? message : { ...message, signature: { keyId: signature.keyId } };
}
