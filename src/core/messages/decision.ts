import { canonicalJson, canonicalJsonProblem } from '../base/canonical-json.ts';
import { compileFieldGlob } from '../match/matching.ts';
import { parseDuration } from '../base/duration.ts';
import { grantKinds, type GrantKind } from '../policy/policy.ts';
import { viewedProblem, type Viewed } from './viewed.ts';
import type { Problem } from '../base/problem.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { isObject, kindOf } from '../base/json.ts';

/** The grant that an "always" requests; the rule that asked may narrow it. */
export interface RequestedScope {
  kind: GrantKind;
  /** Globs by argument name, for kind `arguments`. */
  match?: Record<string, string>;
  /** A duration such as `1h`. Default: until the run ends. */
  expiresIn?: string;
  /** Absent: unlimited uses. */
  uses?: number;
}

/** The signature of a message: `value` is Ed25519 over the message, in base64. See docs/wire.md. */
export interface MessageSignature {
  /** The id of the key under `reviewer_keys` in the operator's policy. */
  keyId: string;
  /** When the message was signed, as its sender says: ISO 8601 in UTC. */
  signedAt: string;
  value: string;
}

/** A reviewer's answer to one request. `{ requestId, approved }` alone is valid. */
export interface ParsedDecision {
  /** 32 hex characters. */
  requestId: string;
  approved: boolean;
  /** Answers later calls, too. `true`: all of the tool, or only identical ones if it is destructive or a shell. */
  always?: boolean | RequestedScope;
  /** Words for the model: they replace the result of a denied call, and precede the result of an approved one. */
  reason?: string;
  /** With `approved: true`: the complete arguments that run instead of those shown. */
  modifiedArguments?: JsonObject;
  /** With `approved: false`: what the model gets instead of the tool's result. */
  response?: Json;
  /** The reviewer's name. It is claimed, unless a signature proves it. */
  reviewerId?: string;
  /** The reviewer's name, at most 100 characters. It is shown beside the id, and no decision depends on it. */
  reviewerName?: string;
  /** Checked against the request's digest if present. */
  digest?: string;
  /** Makes a retry safe: the same id and content again gives the original receipt. */
  decisionId?: string;
  viewed?: Viewed;
  signature?: MessageSignature;
}

/** Maximum length of a decision's texts, in characters; longer ones are `too_large`. */
export const decisionBounds = {
  reason: 2_000,
  reviewerId: 200,
  reviewerName: 100,
  decisionId: 200,
  digest: 64,
} as const;
/** Maximum length of each member's JSON, in characters. */
const longestJson = { modifiedArguments: 400_000, response: 20_000 } as const;
/** Maximum number of decisions in one signal or update; a longer list is refused as a whole. */
export const maxDecisions = 100;
const maxUses = 1_000_000;
const maxMatches = 20;
/** The longest name in `always.match`: a grant must stay small, because the memo carries its journal entry. */
const longestName = 200;

const requestIdShape = /^[0-9a-f]{32}$/;
const digestShape = /^[0-9a-f]{64}$/;

/** Checks a decision as received. Unknown fields are refused, so that no reviewer believes that one counted. */
export function parseDecision(value: unknown): { decision: ParsedDecision } | { problem: Problem } {
  if (!isObject(value)) return invalid(`a decision is an object { requestId, approved }, not ${kindOf(value)}`);
  const decision: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const problem = fieldProblem(key, field);
    if (problem !== undefined) return { problem };
    decision[key] = field;
  }
  const { approved, always, response, modifiedArguments } = decision;
  if (decision['requestId'] === undefined) return invalid(requestIdSentence);
  if (approved === undefined) return invalid(`'approved' is missing: true or false`);
  if (response !== undefined && approved === true) {
    return invalid(`'response' answers in the tool's place: it goes with approved: false`);
  }
  if (response !== undefined && always !== undefined && always !== false) {
    return invalid(`'response' answers one call: it does not go with 'always'`);
  }
  if (modifiedArguments !== undefined && approved === false) {
    return invalid(`'modifiedArguments' goes with approved: true`);
  }
  return { decision: decision as unknown as ParsedDecision };
}

/** True if two decisions have the same content, as the decision and its retry under one id must have. */
export function sameDecision(one: ParsedDecision, other: ParsedDecision): boolean {
  return canonicalJson(one as unknown as Json) === canonicalJson(other as unknown as Json);
}

export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && requestIdShape.test(value);
}

export const requestIdSentence = `'requestId' must be the 32 hex characters of the request`;

/** Why a member of a decision is refused, also because it is unknown; undefined if it is accepted. */
function fieldProblem(key: string, field: unknown): Problem | undefined {
  switch (key) {
    case 'requestId':
      return isRequestId(field) ? undefined : invalid(requestIdSentence).problem;
    case 'approved':
      if (typeof field === 'boolean') return undefined;
      return invalid(`'approved' must be true or false, not ${kindOf(field)}`).problem;
    case 'always':
      return typeof field === 'boolean' ? undefined : scopeProblem(field);
    case 'modifiedArguments':
      if (!isObject(field)) {
        return invalid(`'modifiedArguments' must be an object with all arguments, not ${kindOf(field)}`).problem;
      }
      return jsonProblem(key, field);
    case 'response':
      return jsonProblem(key, field);
    case 'viewed': {
      const problem = viewedProblem(field);
      return problem === undefined ? undefined : invalid(problem).problem;
    }
    case 'signature':
      return signatureProblem(field);
    default:
      return textProblem(key, field);
  }
}

/** Why a member is refused that has no check of its own: it must be a text in `decisionBounds`. */
function textProblem(key: string, field: unknown): Problem | undefined {
  if (!Object.hasOwn(decisionBounds, key)) return invalid(`unknown field '${key.slice(0, 40)}'`).problem;
  if (typeof field !== 'string') return invalid(`'${key}' must be text, not ${kindOf(field)}`).problem;
  const most = decisionBounds[key as keyof typeof decisionBounds];
  if (field.length > most) return { code: 'too_large', message: `'${key}' is longer than ${most} characters` };
  if (key === 'digest' && !digestShape.test(field)) {
    return invalid(`'digest' must be 64 lower-case hex characters`).problem;
  }
  return undefined;
}

function jsonProblem(key: keyof typeof longestJson, field: unknown): Problem | undefined {
  const problem = canonicalJsonProblem(field);
  if (problem !== undefined) return invalid(`'${key}': ${problem}`).problem;
  if (JSON.stringify(field).length <= longestJson[key]) return undefined;
  return { code: 'too_large', message: `'${key}' is longer than ${longestJson[key]} characters of JSON` };
}

/** Why an `always` that is not a boolean is refused; undefined if it is accepted. */
function scopeProblem(scope: unknown): Problem | undefined {
  if (!isObject(scope)) {
    return invalid(`'always' must be true, false or { kind, match, expiresIn, uses }, not ${kindOf(scope)}`).problem;
  }
  const { kind, match, expiresIn, uses, ...rest } = scope;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return invalid(`unknown field 'always.${unknown.slice(0, 40)}'`).problem;
  if (!grantKinds.some((known) => known === kind)) {
    return invalid(`'always.kind' must be one of ${grantKinds.join(', ')}`).problem;
  }
  if ((kind === 'arguments') !== (match !== undefined)) {
    return invalid(`'always.match' names globs by argument; it goes with kind 'arguments', and only with it`).problem;
  }
  if (match !== undefined) {
    const problem = matchProblem(match);
    if (problem !== undefined) return problem;
  }
  if (expiresIn !== undefined && !isFiniteDuration(expiresIn)) {
    return invalid(`'always.expiresIn' must be a whole number and a unit, such as 30m or 1h`).problem;
  }
  if (uses !== undefined && !(Number.isInteger(uses) && (uses as number) >= 1 && (uses as number) <= maxUses)) {
    return invalid(`'always.uses' must be a whole number from 1 to ${maxUses}`).problem;
  }
  return undefined;
}

function isFiniteDuration(value: unknown): boolean {
  const parsed = typeof value === 'string' ? parseDuration(value) : { problem: '' };
  return 'durationMs' in parsed && parsed.durationMs !== null;
}

/** Why the globs of an `always` are refused, as too many or as invalid; undefined if they are accepted. */
function matchProblem(match: unknown): Problem | undefined {
  const fields = isObject(match) ? Object.entries(match) : [];
  if (fields.length === 0 || fields.length > maxMatches) {
    return invalid(`'always.match' must be an object of 1 to ${maxMatches} globs`).problem;
  }
  for (const [name, glob] of fields) {
    if (name.length > longestName)
      return invalid(`'always.match' names an argument of more than ${longestName} characters`).problem;
    const place = `'always.match.${name.slice(0, 40)}'`;
    if (typeof glob !== 'string') return invalid(`${place} must be a glob, not ${kindOf(glob)}`).problem;
    const compiled = compileFieldGlob(glob);
    if ('problem' in compiled) return invalid(`${place} ${compiled.problem}`).problem;
  }
  return undefined;
}

/** Why a value does not have the form of a signature. Whether the signature is valid, `verifySignature` decides. */
export function signatureProblem(signature: unknown): Problem | undefined {
  const sentence = `'signature' must be { keyId, signedAt, value }, all texts`;
  if (!isObject(signature)) return invalid(sentence).problem;
  const { keyId, signedAt, value, ...rest } = signature;
  const texts = [keyId, signedAt, value];
  const sound = texts.every((text) => typeof text === 'string' && text !== '' && text.length <= 200);
  return sound && Object.keys(rest).length === 0 ? undefined : invalid(sentence).problem;
}

function invalid(message: string): { problem: Problem } {
  return { problem: { code: 'invalid_decision', message } };
}
