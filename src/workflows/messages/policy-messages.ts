import { clock } from '../sandbox/clock.ts';
import type { Ledger } from '../../core/ledger/ledger-state.ts';
import { claimed } from './authenticate.ts';
import { isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ReadPolicy } from '../../activities/load-agent.ts';
import { activityNames, messageNames, parentsChangedName } from '../../contract.ts';
import type { Receipt } from '../../core/ledger/approval.ts';
import type { SetPolicyMessage, RevokeMessage, ControlMessage } from '../../core/messages/control.ts';
import { readSetPolicy, readRevoke, instantMs } from '../../core/messages/control.ts';
import type { Sender } from '../../core/messages/sender.ts';
import { readRevoked } from '../../core/people/revoked.ts';
import type { Problem } from '../../core/base/problem.ts';
import { isAsked, mayRun } from '../../core/policy/modes.ts';
import type { RulingMeter } from '../../core/match/ruling-meter.ts';
import { ceilingRedaction } from '../../core/policy/redaction-settings.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ActivePolicies, RuledCase } from '../state/active-policies.ts';
import { type Lookup, type MessageKind, acceptable, refused, tooManyLookups } from './message-kind.ts';
import { deniedToolId, toolsToLift } from '../../core/ledger/denials.ts';
import type { Grant } from '../../core/policy/grants.ts';
import { type Policy, policyDigest } from '../../core/policy/policy.ts';
import type { ReadParents } from '../../activities/parent-of-run.ts';
import { byteLength } from '../../core/base/text.ts';
import { inheritedBeside, maxInheritedBytes, unreadableParent } from '../../core/policy/nesting.ts';
import { admittedBefore } from '../../core/ledger/argument-sums.ts';
import { sameTerms, termsOfWait } from '../../core/policy/ask-terms.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { openedAtMs } from '../../core/ledger/escalation.ts';
import { requestOf, type RequestRecord, type LedgerCommand } from '../../core/ledger/ledger.ts';
import { shownArguments } from '../../core/ledger/shown-arguments.ts';
import { reviewersOf, whyAsked } from '../../core/ledger/waiting-for.ts';
import { isMalformed } from '../sandbox/activity-results.ts';
import { redactionFor } from '../state/record-request.ts';

const readPolicy = proxyActivities<{ [activityNames.readPolicy]: ReadPolicy }>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 5 },
  summary: 'Check the new policy',
})[activityNames.readPolicy];

/** The most characters of a problem: it may quote the document, which may be long. */
const maxProblemLength = 1_000;

/** The work of compiling changed policies, in units of `RulingMeter`: per change, per rule, per character of `when`. */
const workOfChange = 500_000;
const workOfRule = 5_000;
const workOfCharacter = 250;

/** Returns how to handle `setPolicy`: `change` changes the policies, which then rule again on all open requests. */
export function setPolicyMessages(
  state: GateState,
  policies: () => ActivePolicies,
  change: (change: PolicyChange) => void,
): MessageKind<SetPolicyMessage> {
  return {
    name: messageNames.setPolicy,
    parse: readSetPolicy,
    concerns: () => state.ledger.open.map(({ request }) => request.requestId),
    preview: (message, sender, atMs) => {
      const loosened = loosen(message, sender, atMs);
      return 'code' in loosened ? refused('', loosened) : acceptable;
    },
    // A message with a policy needs no extra check of its sender: the worker that parses it also reports revocations.
    loosens: (message, sender, atMs) =>
      message.policy === undefined && loosensByOperator(loosen(message, sender, atMs)),
    apply: (message, sender, atMs) => {
      const loosened = loosen(message, sender, atMs);
      if ('code' in loosened) return refused('', loosened);
      const { policy: document, mode, channels } = message;
      const unknown = channels?.find((name) => !Object.hasOwn(policies().options.routes?.channels ?? {}, name));
      if (unknown !== undefined) {
        return refused('', { code: 'policy_invalid', message: `this run has no channel '${unknown.slice(0, 64)}'` });
      }
      if (document === undefined) {
        if (state.hasSpentChangeWork) return refused('', tooManyLookups);
        const { ceiling, parents = [], run } = policies().policies;
        const rules = [ceiling, ...parents, run].flatMap((policy) => policy?.rules ?? []);
        const conditions = rules.reduce((sum, { when = '' }) => sum + when.length, 0);
        const meter = { work: 0 };
        const receipt = follow({ mode, channels }, meter);
        state.changes.work += workOfChange + rules.length * workOfRule + conditions * workOfCharacter + meter.work;
        return receipt;
      }
      return read(message, document, (policy) => follow({ policy, mode, channels }));

      /** Puts the change into force and rules again on the open requests. The receipt lists those that this settled. */
      function follow(next: PolicyChange, meter?: RulingMeter): Receipt {
        const { reason } = message;
        change(next);
        const note = { voter: sender.voter, ...loosened, reason: reason || undefined };
        const { policyDigest, settled } = reevaluateOpen(state, policies(), atMs, note, meter);
        const which = settled.map(({ requestId, outcome }) => `${requestId} ${outcome}`).join(', ');
        return {
          requestId: '',
          accepted: true,
          settled,
          message: `the policy is ${policyDigest.slice(0, 16)}…; settled: ${which || 'nothing'}`,
        };
      }
    },
  };

  function loosen(message: SetPolicyMessage, sender: Sender, atMs: number): { operatorMs?: number } | Problem {
    return loosening(message, sender, policies().policies.ceiling, state.ledger, atMs);
  }

  /** Has a worker read the document, and calls `follow` with the policy. An invalid document is refused. */
  function read(
    message: SetPolicyMessage,
    document: NonNullable<SetPolicyMessage['policy']>,
    follow: (policy: NonNullable<PolicyChange['policy']>) => Receipt,
  ): Lookup {
    const { ceiling } = policies().policies;
    const { maxTimeoutMs } = ceiling?.approval ?? {};
    const bounds = {
      maxTimeoutMs,
      underCeiling: ceiling !== undefined,
      redaction: ceiling && ceilingRedaction(ceiling),
    };
    return {
      blocks: true,
      failed: 'the new policy could not be read: send it again',
      ended: 'the run ended before it took the policy',
      find: async () => {
        const found = await readPolicy({ policy: document, ...bounds });
        if ('policy' in found) {
          return () => {
            state.obey(readRevoked(found.revoked));
            // The sender was accepted when the message came. This worker may know the sender's key as revoked since.
            const sender = claimed(messageNames.setPolicy, message, policies().policies.ceiling, state);
            return 'problem' in sender ? refused('', sender.problem) : follow(found.policy);
          };
        }
        const problem = `the new policy: ${found.problem.slice(0, maxProblemLength)}`;
        return () => refused('', { code: 'policy_invalid', message: problem });
      },
    };
  }
}

/** Message `revoke`: ends some or all grants of the run, and lifts the denials of a tool. */
export function revokeMessages(state: GateState, policies: () => ActivePolicies): MessageKind<RevokeMessage> {
  return {
    name: messageNames.revoke,
    parse: readRevoke,
    concerns: () => [],
    preview: (message, sender, atMs) => {
      const loosened = lifting(message, sender, atMs);
      return 'code' in loosened ? refused('', loosened) : state.preview(revocation(message, sender, atMs));
    },
    loosens: (message, sender, atMs) => loosensByOperator(lifting(message, sender, atMs)),
    apply: (message, sender, atMs) => {
      const ids = namedBy(message).map(({ grantId }) => grantId);
      const loosened = lifting(message, sender, atMs);
      if ('code' in loosened) return refused('', loosened);
      const command = { ...revocation(message, sender, atMs), ...loosened };
      const receipt = state.answer(command);
      if (!receipt.accepted) return receipt;
      if (message.grants === 'all') state.lastRevocation = command;
      return { ...receipt, message: ids.length === 0 ? 'there was no grant to revoke' : `revoked ${ids.join(', ')}` };
    },
  };

  /** Returns what the message ends: grants, and the denials of tools that it names. `all` names only the grants. */
  function namedBy({ grants }: RevokeMessage): Pick<Grant, 'grantId' | 'approved'>[] {
    const { ledger } = state;
    if (grants === 'all') return ledger.grants;
    const lifted = toolsToLift(ledger, grants).map((tool) => ({ grantId: deniedToolId(tool), approved: false }));
    return [...ledger.grants.filter(({ grantId }) => grants.includes(grantId)), ...lifted];
  }

  /** Returns a problem if the sender may not revoke these grants. Only the end of a denial loosens the policy. */
  function lifting(message: RevokeMessage, sender: Sender, atMs: number): { operatorMs?: number } | Problem {
    if (namedBy(message).every(({ approved }) => approved)) return {};
    return loosening(message, sender, policies().policies.ceiling, state.ledger, atMs);
  }
}

function revocation({ grants, reason }: RevokeMessage, { voter }: Sender, atMs: number) {
  return { kind: 'revoke', atMs, grants, voter, reason: reason || undefined } as const;
}

/** The signing time may be this far ahead. Later messages must be signed later, so one far ahead would block them. */
const longestAheadMs = 600_000;

/**
 * Returns a problem if the sender may not loosen what a run may do (I10): if the ceiling has keys of operators, only an
 * operator may. The signing times must increase, so that no old message counts again. `operatorMs` is the signing time.
 */
export function loosening(
  message: ControlMessage,
  { operator }: Sender,
  ceiling: Policy | undefined,
  { operatorMs: lastMs }: Pick<Ledger, 'operatorMs'>,
  atMs: number,
): { operatorMs?: number } | Problem {
  const keys = Object.values(ceiling?.reviewerKeys ?? {});
  if (!keys.some((key) => key.operator)) return {};
  const code = 'not_permitted_by_ceiling';
  const operatorMs = instantMs(message.signature?.signedAt);
  if (!operator || operatorMs === undefined) {
    return {
      code,
      message: `only an operator can loosen what this run may do: sign the message with an operator's key`,
    };
  }
  // `atMs` is infinite if the time of the message is unknown.
  if (operatorMs > Math.min(atMs, clock.nowMs) + longestAheadMs) {
    return { code, message: 'the message is signed for a later time than now: set the clock, and sign it again' };
  }
  if (operatorMs > lastMs) return { operatorMs };
  return { code, message: `a message with the same or a later signing time was applied already: sign this one again` };
}

/** True if `loosening` found that the message loosens the policy by an operator's signature. */
export function loosensByOperator(loosened: { operatorMs?: number } | Problem): boolean {
  return 'operatorMs' in loosened;
}

// Signal `parentsChanged`: the policies that bind the run above a nested run have changed (docs/decisions/0009).

/** Temporal retries this activity until a worker answers, because what this run may do depends on the answer. */
const { [activityNames.readParents]: readParents } = proxyActivities<{ [activityNames.readParents]: ReadParents }>({
  startToCloseTimeout: '30s',
  summary: 'Read the policies of the calling run',
});

const maxBytes = maxInheritedBytes + 1_000;

interface ParentsChanged {
  value: unknown;
  eventId: string;
}

/** Returns how a nested run handles `parentsChanged`, by `inherit`. Undefined for a run without a parent. */
export function parentsChangedMessages(
  state: GateState,
  policies: () => ActivePolicies,
  inherit: (parents: Policy[]) => void,
): MessageKind<ParentsChanged> | undefined {
  const { parent, runId } = workflowInfo();
  if (parent === undefined) return undefined;
  return {
    name: parentsChangedName,
    parse: (value, eventId = '') => {
      const isLong = byteLength(JSON.stringify(value ?? null)) > maxBytes;
      const message = `the policies of a calling run have at most ${maxBytes} bytes`;
      return isLong ? { problem: { code: 'too_large', message } } : { message: { value, eventId } };
    },
    concerns: () => [],
    preview: () => {
      if (policies().options.onParents !== undefined) return acceptable;
      return refused('', { code: 'invalid_message', message: 'only agent runs inherit policies' });
    },
    apply: ({ value, eventId }) => ({
      blocks: true,
      isRequired: true,
      failed: 'the policies of the calling run could not be read',
      ended: 'the run ended before it took the policies of the calling run',
      find: async () => {
        let read: Awaited<ReturnType<ReadParents>> | undefined;
        while (read === undefined) {
          try {
            read = await readParents({ runId, eventId, parent, message: value });
          } catch (error) {
            if (isCancellation(error)) throw error;
            // A client has completed the activity with a malformed result, so the run asks again.
            if (isMalformed(error)) state.noteCommand();
            // An operator has failed the activity, or no worker can read its input. Under the old policies, the run
            // could do what its parent may not do any more, so it denies every call.
            else read = { policies: [unreadableParent], atMs: Infinity };
          }
        }
        const { workflowId } = parent;
        const message = `the signal did not come from run '${workflowId}'`;
        if ('isForged' in read) return () => refused('', { code: 'forbidden', message });
        const { policies: parents, atMs } = read;
        return () => {
          inherit(inheritedBeside(policies().policies.ceiling, parents));
          reevaluateOpen(state, policies(), atMs, { reason: `the policies of run '${workflowId}' changed` });
          return acceptable;
        };
      },
    }),
  };
}

type PolicyCommand = Extract<LedgerCommand, { kind: 'policy' }>;

/**
 * Records a change of the policies, and rules again on every request whose deadline had not passed when the change was
 * sent (I14). Cancels those among them that remain once the work counted in `meter` has reached the limit of a task.
 * Returns the digest of the changed policies, and the requests that this settled. `sentAtMs` is infinite if unknown.
 */
function reevaluateOpen(
  state: GateState,
  rules: ActivePolicies,
  sentAtMs: number,
  change: Pick<PolicyCommand, 'voter' | 'reason' | 'operatorMs'>,
  meter: RulingMeter = { work: 0 },
): { policyDigest: string; settled: NonNullable<Receipt['settled']> } {
  const digest = policyDigest(rules.policies);
  state.apply({ kind: 'policy', atMs: clock.nowMs, policyDigest: digest, ...change });
  const atMs = Math.min(sentAtMs, clock.nowMs);
  const waiting = state.ledger.open.filter(({ deadlineMs }) => deadlineMs === null || atMs <= deadlineMs);
  for (const record of waiting) {
    const { requestId } = record.request;
    if (state.isSpent(meter)) state.apply({ kind: 'cancel', atMs, requestId, reason: sentences.notRuledAgain });
    else reevaluate(state, rules, record, { atMs, callsAtOnce: waiting.length, meter });
  }
  const settled = waiting.flatMap(({ request: { requestId } }) => {
    const found = requestOf(state.ledger, requestId);
    return found !== undefined && 'settlement' in found ? [{ requestId, outcome: found.settlement.outcome }] : [];
  });
  return { policyDigest: digest, settled };
}

/** Rules again on one open request. If the policies still ask about it, updates it for reviewers, else settles it. */
function reevaluate(
  state: GateState,
  rules: ActivePolicies,
  record: RequestRecord,
  { atMs, callsAtOnce, meter }: { atMs: number; callsAtOnce: number; meter: RulingMeter },
): void {
  const { request, ruled, terms: termsBefore, deadlineMs } = record;
  const { requestId, toolName: tool, arguments: args, riskLevel: risk, digest } = request;
  const { assessment: assessed, ...declared } = ruled;
  const call = { tool, args, risk, digest, assessed, ...declared };
  const admitted = admittedBefore(state.ledger, record.callId);
  const { ruling, rulePlace, terms: asked, assessment, show, redact } = rules.rule(call, admitted, atMs, meter);
  if (!isAsked(ruling.action)) {
    state.apply({ kind: 'supersede', atMs, requestId, runs: mayRun(ruling.action), ruling });
    return;
  }
  showAgain(state, record, { show, redact }, callsAtOnce);
  const waitMs = deadlineMs === null ? null : deadlineMs - openedAtMs({ request });
  const terms = termsOfWait(asked, waitMs);
  if (sameTerms(termsBefore, terms) && request.rule === ruling.rule) return;
  const { rule } = ruling;
  const reason = whyAsked(ruling, risk);
  const reviewers = reviewersOf(terms, atMs - openedAtMs({ request }));
  state.apply({
    kind: 'updateTerms',
    atMs,
    requestId,
    terms,
    request: { rule, rulePlace, reason, reviewers, assessment },
  });
}

/** Records what reviewers see of the arguments by the changed policies, if it differs. What was hidden stays hidden. */
function showAgain(
  state: GateState,
  record: RequestRecord,
  { show, redact }: Pick<RuledCase, 'show' | 'redact'>,
  callsAtOnce: number,
): void {
  const { requestId, arguments: args, shownArguments: shownBefore, notShown } = record.request;
  // If the policies no longer redact, the parts that were redacted before stay so.
  const redaction = redact === undefined ? record.redaction : redactionFor({ ...record, args }, redact, callsAtOnce);
  // `redactionFor` returns nothing if it cannot search the arguments as the policies demand. Then hide all of them.
  const isUnsearched = redact !== undefined && redaction === undefined;
  const hidden = record.hidden ?? (isUnsearched ? true : undefined);
  const shown = hidden === true ? undefined : shownArguments(args, show, redaction?.values);
  const isSame = JSON.stringify({ shownArguments: shownBefore, notShown }) === JSON.stringify({ ...shown });
  if (isSame && hidden === record.hidden && redaction?.settings === record.redaction?.settings) return;
  state.apply({ kind: 'show', requestId, shown: { ...shown }, hidden, redaction: redaction ?? record.redaction });
}
