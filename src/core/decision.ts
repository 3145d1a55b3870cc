import type { Problem } from './problem.ts';

/** A reviewer's answer to one request, with the fields that this version serves. `{ requestId, approved }` alone is valid. */
export interface ParsedDecision {
  requestId: string;
  approved: boolean;
  reason?: string;
  reviewerId?: string;
  /** Checked against the request's digest when present (I8). */
  digest?: string;
  /** Makes a retry harmless: same id and content again gives the original receipt. */
  decisionId?: string;
}

/** Longest texts a decision may carry, in characters; longer ones are `too_large`. */
const longest = { reason: 2_000, reviewerId: 200, decisionId: 200, digest: 64 } as const;
const notYet = ['always', 'modifiedArguments', 'response', 'signature'];
/** Decisions in one signal or update; more are refused whole. */
export const maxDecisions = 100;

const requestIdShape = /^[0-9a-f]{32}$/;
const digestShape = /^[0-9a-f]{64}$/;

/**
 * Checks one decision as it came over the wire. Total: any value gives a decision or one sentence (I4).
 * Unknown and not yet built fields are refused, never ignored: a reviewer must not believe that one counted.
 */
export function parseDecision(value: unknown): { decision: ParsedDecision } | { problem: Problem } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid(`a decision is an object { requestId, approved }, not ${kindOf(value)}`);
  }
  const source = value as Record<string, unknown>;
  const decision: Record<string, string | boolean> = {};
  for (const key of Object.keys(source)) {
    const field = source[key];
    if (field === undefined) continue;
    if (key === 'approved') {
      if (typeof field !== 'boolean') return invalid(`'approved' must be true or false, not ${kindOf(field)}`);
    } else if (notYet.includes(key)) {
      return invalid(`'${key}' is not supported by this version`);
    } else if (key !== 'requestId' && !Object.hasOwn(longest, key)) {
      return invalid(`unknown field '${key.slice(0, 40)}'`);
    } else if (typeof field !== 'string') {
      return invalid(`'${key}' must be text, not ${kindOf(field)}`);
    } else if (key !== 'requestId' && field.length > longest[key as keyof typeof longest]) {
      return problem('too_large', `'${key}' is longer than ${longest[key as keyof typeof longest]} characters`);
    }
    decision[key] = field;
  }
  if (typeof decision['requestId'] !== 'string' || !requestIdShape.test(decision['requestId'])) {
    return invalid(`'requestId' must be the 32 hex characters of the request`);
  }
  if (decision['approved'] === undefined) return invalid(`'approved' is missing: true or false`);
  if (typeof decision['digest'] === 'string' && !digestShape.test(decision['digest'])) {
    return invalid(`'digest' must be 64 lower-case hex characters`);
  }
  return { decision: decision as unknown as ParsedDecision };
}

/** True when both say the same: what a retry under one decision id must do to be harmless. */
export function sameDecision(one: ParsedDecision, other: ParsedDecision): boolean {
  return (
    one.requestId === other.requestId &&
    one.approved === other.approved &&
    one.reason === other.reason &&
    one.reviewerId === other.reviewerId &&
    one.digest === other.digest &&
    one.decisionId === other.decisionId
  );
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function problem(code: Problem['code'], message: string): { problem: Problem } {
  return { problem: { code, message } };
}

function invalid(message: string): { problem: Problem } {
  return problem('invalid_decision', message);
}
