/** Random messages to four open requests under different rules, for the ledger alone and for a real run. */
import fc from 'fast-check';
import type { ApprovalRequest, Receipt } from '../../../src/contract.ts';
import { askTermsOf } from '../../../src/core/policy/ask-terms.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import type { RequestRecord, Directories, LedgerCommand } from '../../../src/core/ledger/ledger.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { claimedBy } from '../../support/record-request.ts';
import { compilePolicy, evaluate, type Ruling } from '../../../src/core/policy/ruling.ts';

const people = ['ann', 'bob', 'cat', 'dan'] as const;
export const lifecyclePolicy: JsonObject = {
  directory: {
    people: {
      ann: { groups: ['finance'] },
      bob: { groups: ['finance', 'legal'] },
      cat: { groups: ['legal'] },
      dan: { groups: [] },
    },
  },
  rules: [
    { pattern: 'pay:r0', action: 'ask' },
    { pattern: 'pay:r1', action: 'ask', ask: { reviewers: ['group:finance', 'cat'], quorum: 2 } },
    { pattern: 'pay:r2', action: 'ask', ask: { one_of_each: ['group:finance', 'group:legal'], veto: false } },
    { pattern: 'pay:r3', action: 'ask', ask: { reviewers: ['cat', 'dan'], always: false } },
    { pattern: 'hold', action: 'allow' },
  ],
};
export const targets = ['r0', 'r1', 'r2', 'r3'] as const;

const target = fc.nat(targets.length - 1);
const by = fc.constantFrom(...people, undefined);
/** Six in ten are decisions. A decision id may repeat, with the same content or another. */
export const lifecycleMessage = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('decide' as const),
      target,
      by,
      approved: fc.boolean(),
      always: fc.constantFrom(undefined, undefined, undefined, true, { kind: 'call' as const }),
      response: fc.constantFrom(undefined, undefined, undefined, undefined, 'no need'),
      decisionId: fc.constantFrom(undefined, undefined, 'one', 'two'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('extend' as const), target, by, isLater: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delegate' as const), target, by, to: fc.constantFrom(...people) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), all: fc.boolean() }) },
);
export type LifecycleMessage = typeof lifecycleMessage extends fc.Arbitrary<infer T> ? T : never;

const parsed = parsePolicy(lifecyclePolicy);
if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
const { policy } = parsed;
export const lifecycleDirectories: Directories = { run: policy.directory! };

/** The request as a run's gate would record it. */
export function recordedAs(request: ApprovalRequest, callId: string): { record: RequestRecord; ruling: Ruling } {
  const call = { tool: 'pay', args: request.arguments, risk: 'write', subject: 'to' } as const;
  const ruling = evaluate({ run: compilePolicy(policy, 'run') }, call);
  const openedMs = Date.parse(request.requestedAt);
  const record: RequestRecord = {
    callId,
    deadlineMs: request.deadline === null ? null : Date.parse(request.deadline),
    request,
    terms: askTermsOf({ run: policy }, ruling, call),
    votes: [],
    delegations: [],
    stepsTakenUntilMs: openedMs - 1,
    ruled: { definition: '' },
  };
  return { record, ruling };
}

/** The message in its wire form, and as a ledger command at `atMs`. */
export function sent(
  message: LifecycleMessage,
  requests: readonly ApprovalRequest[],
  atMs: number,
): { name: string; payload: object; command: LedgerCommand } {
  const request = 'target' in message ? requests[message.target]! : requests[0]!;
  const { requestId, deadline, requestedAt } = request;
  const reviewerId = 'by' in message ? message.by : undefined;
  const voter = claimedBy(reviewerId);
  const from = reviewerId === undefined ? {} : { by: reviewerId };
  if (message.kind === 'decide') {
    const { approved, always, response, decisionId } = message;
    const isAnswer = response !== undefined && !approved;
    const decision = {
      requestId,
      approved,
      ...(reviewerId !== undefined && { reviewerId }),
      ...(always !== undefined && !isAnswer && { always }),
      ...(isAnswer && { response }),
      ...(decisionId !== undefined && { decisionId }),
    };
    return { name: 'decide', payload: decision, command: { kind: 'decide', atMs, decision, voter } };
  }
  if (message.kind === 'extend') {
    const untilMs = Date.parse(deadline!) + (message.isLater ? 60_000 : -1);
    const latestMs = Date.parse(requestedAt) + 24 * 3_600_000;
    const payload = { requestId, until: new Date(untilMs).toISOString(), ...from };
    return { name: 'extend', payload, command: { kind: 'extend', atMs, requestId, untilMs, latestMs, voter } };
  }
  if (message.kind === 'delegate') {
    const { to } = message;
    return {
      name: 'delegate',
      payload: { requestId, to, ...from },
      command: { kind: 'delegate', atMs, requestId, to, voter },
    };
  }
  const grants = message.all ? ('all' as const) : ['grant-1'];
  return { name: 'revoke', payload: { grants }, command: { kind: 'revoke', atMs, grants, voter } };
}

/** The parts of a receipt that do not depend on wording. */
export function essence(receipt: Receipt | undefined): object {
  const { accepted = true, code, outcome, votes, grantId, settled, settledBy } = receipt ?? {};
  // For a refusal, the outcome and its author appear in signals and lists; the rejection of an update carries only the
  // code.
  return code === undefined ? { accepted, outcome, votes, grantId, settled, settledBy } : { accepted, code };
}
