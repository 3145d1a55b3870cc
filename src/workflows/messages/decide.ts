/** How the pipeline treats message `decide`: a reviewer's answer to one request, with or without edited arguments. */
import { decideName, activityNames } from '../../contract.ts';
import type { Receipt } from '../../core/ledger/approval.ts';
import { parseDecision, type ParsedDecision } from '../../core/messages/decision.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import type { InFlight } from '../state/in-flight.ts';
import { type MessageKind, refused, type Lookup } from './message-kind.ts';
import { proxyActivities } from '@temporalio/workflow';
import type { CheckEdit, CheckedArguments } from '../../activities/check-edit.ts';
import { admittedBefore } from '../../core/ledger/argument-sums.ts';
import { answerBefore } from '../../core/ledger/admission.ts';
import { isAsked, mayRun } from '../../core/policy/modes.ts';
import { callDigest } from '../../core/base/digest.ts';
import { type RequestRecord, type CheckedEdit, requestOf } from '../../core/ledger/ledger.ts';
import { latestDeadlineMs } from '../../core/ledger/extend-and-delegate.ts';
import type { DecideCommand } from '../../core/ledger/decide.ts';
import type { ProblemCode } from '../../core/base/problem.ts';
import { isPreviewed } from '../../core/base/bound-preview.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { keptValues } from '../../core/redact/kept-values.ts';
import { notSplit, type ShellSplit } from '../../core/shell/parts.ts';
import { clock } from '../sandbox/clock.ts';
import { editedRedaction, recordRequest } from '../state/record-request.ts';

/** Returns how to handle `decide`. `userMessageCount` counts the user's messages that the model has not received. */
export function decideMessages(
  state: GateState,
  inFlight: InFlight,
  policies: () => ActivePolicies,
  userMessageCount: () => number,
): MessageKind<ParsedDecision> {
  return {
    name: decideName,
    takesLists: true,
    parse: (value) => {
      const parsed = parseDecision(value);
      return 'problem' in parsed ? parsed : { message: parsed.decision };
    },
    concerns: ({ requestId }) => [requestId],
    // If the recorded time is unknown, an approval is late, so that no late approval lets a call run.
    undatedAtMs: ({ requestId, approved }) => (approved ? Number.POSITIVE_INFINITY : inTimeIfRuns(state, requestId)),
    preview: (decision, { voter }, atMs) => {
      const receipt = state.preview({ kind: 'decide', atMs, decision, voter });
      if (receipt.code !== undefined) return receipt;
      if (isOutdated(decision)) return outdated(decision);
      const unseen = unseenPreview(decision);
      if (unseen !== undefined) return unseen;
      return isConcurrentEdit(decision) ? concurrentEdit(decision) : receipt;
    },
    late: ({ approved, decisionId }, { voter: { reviewerId } }) => {
      const identity = reviewerId === undefined ? 'anonymous' : 'claimed';
      return { approved, reviewerId, identity, decisionId };
    },
    apply: (decision, { voter }, atMs) => {
      const open = state.ledger.open.find(({ request }) => request.requestId === decision.requestId);
      const isEdit = decision.modifiedArguments !== undefined && open !== undefined;
      if (!isEdit) return state.answer({ kind: 'decide', atMs, decision, voter });
      return checkEdit(state, policies, { decision, voter, atMs }, open);
    },
  };

  /** True if the user has written since the reviewer's card was shown. A denial is never outdated. */
  function isOutdated({ requestId, approved, response, viewed, decisionId }: ParsedDecision): boolean {
    const seen = viewed?.userMessages;
    if (seen === undefined || seen >= userMessageCount() || (!approved && response === undefined)) return false;
    const open = state.ledger.open.find(({ request }) => request.requestId === requestId);
    return open !== undefined && !isRetry(open, { decisionId });
  }

  /** True for a retry: a vote with this decision id counts already. */
  function isRetry({ votes }: RequestRecord, { decisionId }: Pick<ParsedDecision, 'decisionId'>): boolean {
    return votes.some((vote) => decisionId !== undefined && vote.decisionId === decisionId);
  }

  /** Refuses an approval that binds a preview if none is ready, or if the approval names another than the present one. */
  function unseenPreview(decision: ParsedDecision): Receipt | undefined {
    const { requestId, approved, modifiedArguments, viewed } = decision;
    const open = state.ledger.open.find(({ request }) => request.requestId === requestId);
    const isBinding = open?.bound !== undefined && approved && modifiedArguments === undefined;
    if (!isBinding || isRetry(open, decision)) return undefined;
    if (!isPreviewed(open)) return notPreviewed(requestId);
    const shown = typeof open.bound === 'object' ? open.bound.digest : undefined;
    const isOther = viewed?.preview !== undefined && viewed.preview !== shown;
    return isOther ? otherPreview(requestId) : undefined;
  }

  /** True for an edit while another edit of the request is in flight: only one may be. */
  function isConcurrentEdit({ requestId, modifiedArguments }: ParsedDecision): boolean {
    return modifiedArguments !== undefined && inFlight.holds(requestId);
  }
}

/**
 * Returns the time to assume for a denial or an extension whose recorded time is unknown: the deadline if the call
 * would run after it without a decision, otherwise infinity, which is late. So in doubt, the call does not run.
 */
export function inTimeIfRuns({ ledger }: GateState, requestId: string): number {
  const open = ledger.open.find(({ request }) => request.requestId === requestId);
  return (open?.terms.onTimeout === 'allow' ? open.deadlineMs : null) ?? Number.POSITIVE_INFINITY;
}

function outdated({ requestId }: ParsedDecision): Receipt {
  const message = `the user has written since the card of request ${requestId} was shown: look at it again`;
  return refused(requestId, { code: 'request_changed', message });
}

function notPreviewed(requestId: string): Receipt {
  const message = `the tool is still working out what request ${requestId} would change: look at it, then repeat`;
  return refused(requestId, { code: 'rate_limited', message });
}

function otherPreview(requestId: string): Receipt {
  const message = `the card of request ${requestId} was shown with another preview: look at it again`;
  return refused(requestId, { code: 'request_changed', message });
}

function concurrentEdit({ requestId }: ParsedDecision): Receipt {
  const message = `another edit of request ${requestId} is being checked: repeat it`;
  return refused(requestId, { code: 'rate_limited', message });
}

// A call with edited arguments is a new call (I9): an activity checks the arguments, then the policies rule on it.

const checkEditActivity = proxyActivities<{ [activityNames.checkEdit]: CheckEdit }>({
  startToCloseTimeout: '1m',
  retry: { maximumAttempts: 5 },
  summary: 'Check the edited arguments',
})[activityNames.checkEdit];

type Decided = Pick<DecideCommand, 'decision' | 'voter' | 'atMs'>;

/** Returns the lookup in which a worker checks edited arguments. The request cannot expire until the lookup ends. */
export function checkEdit(
  state: GateState,
  policies: () => ActivePolicies,
  decided: Decided,
  { request, ruled, redaction }: RequestRecord,
): Lookup {
  const { decision, atMs } = decided;
  const { requestId, agentName: agent, toolName: tool, riskLevel: risk } = request;
  const revokedBefore = state.lastRevocation;
  return {
    blocks: false,
    holds: requestId,
    failed: `the edit of request ${requestId} could not be checked: repeat it`,
    ended: `the run ended while the edit of request ${requestId} was being checked`,
    find: async () => {
      const redact = policies().redaction;
      const kept =
        redaction &&
        keptValues(
          request.arguments,
          redaction.values,
          redact?.patterns.map(({ name }) => name),
        );
      const { caller, engine } = policies().options;
      const edited = { agent, tool, args: decision.modifiedArguments!, kept, redact };
      const checked = await checkEditActivity({ ...edited, caller, engine });
      if ('problem' in checked) return () => refuse('arguments_invalid', checked.problem);
      // A worker of an older version leaves placeholders in the arguments, and the tool would run with them.
      const hasPlaceholders = kept !== undefined && checked.restored !== true;
      return () => (hasPlaceholders ? refuse('no_worker', sentences.oldWorker) : applyEdit(checked));
    },
  };

  /** Applies a checked edit: the edited call runs, opens a request of its own, or is refused. */
  function applyEdit(checked: CheckedArguments): Receipt {
    const { args, shell, sentence, assessment, redaction: seen, cannotStart } = checked;
    const digest = callDigest({ tool, args, definition: ruled.definition });
    const found = requestOf(state.ledger, requestId);
    // An edit that changes nothing is a plain approval. If the request is settled by now, the ledger refuses the edit.
    if (digest === request.digest || found === undefined || 'settlement' in found) return answer();
    const split = splitOfEdit(ruled, shell);
    const call = { tool, args, risk, ...ruled, shell: split, digest };
    const admitted = admittedBefore(state.ledger, found.callId);
    const ruledCase = policies().rule({ ...call, assessed: assessment }, admitted, atMs);
    const { ruling, limits } = ruledCase;
    if (!mayRun(ruling.action)) {
      return refuse('denied_by_policy', ruling.reason ?? `policy denies the edited call of '${tool}'`);
    }
    if (cannotStart !== undefined) return refuse('denied_by_policy', cannotStart);
    const { reversible } = ruledCase.assessment;
    const hidden = editedRedaction({ args, ruled: call, redaction: seen }, ruledCase.redact, found);
    const latestMs = latestDeadlineMs(found, policies().policies);
    // The original call has been counted already, so an irreversible edit of an irreversible call adds nothing.
    const counted = { ruled: call, digest, atMs, reversible: reversible || !request.assessment.reversible };
    const stopped = answerBefore(state.ledger, { action: 'allow' }, counted, limits); // what also stops allowed calls
    if (stopped !== undefined) return refuse('denied_by_policy', `the edited call: ${stopped.content}`);
    return answer({
      arguments: args,
      digest,
      reversible,
      redaction: hidden,
      ...(ruling.layer === 'grant' && ruling.rule !== null && { grantId: ruling.rule }),
      ...(isAsked(ruling.action) && {
        asked: {
          ruling,
          successor: recordRequest(policies(), {
            callId: found.callId,
            tool,
            args,
            risk,
            ruled: { ...ruled, shell: split, assessment: assessment ?? ruled.assessment },
            digest,
            ruledCase,
            redaction: hidden,
            contextSummary: request.contextSummary,
            sentence,
            lineage: request.lineage,
            replaces: { requestId, by: 'edit' },
            previewTimeoutMs: found.previewTimeoutMs,
            binds: found.bound !== undefined,
            // The check may have ended after the latest deadline, so do not open the new request later than that.
            atMs: Math.min(clock.nowMs, latestMs ?? Infinity),
            latestMs,
          }),
        },
      }),
    });
  }

  /** Applies the decision. A grant that it creates is revoked if all grants were revoked during the check. */
  function answer(edit?: CheckedEdit): Receipt {
    const receipt = state.answer({ kind: 'decide', ...decided, edit });
    const { lastRevocation } = state;
    const isRevoked = receipt.grantId !== undefined && lastRevocation !== revokedBefore;
    if (!isRevoked || lastRevocation === undefined) return receipt;
    state.apply({ ...lastRevocation, grants: [receipt.grantId!] });
    return { ...receipt, message: `${receipt.message}; ${receipt.grantId} has been revoked since` };
  }

  function refuse(code: ProblemCode, message: string): Receipt {
    return refused(requestId, { code, message });
  }
}

/**
 * Returns the split of the edited command, as the worker made it (`checked`). If the original call had a command and
 * the worker has split none or another argument, returns `notSplit`, which no allow rule matches.
 */
function splitOfEdit(
  { subject, shell: original }: RequestRecord['ruled'],
  checked: (ShellSplit & { argument: string }) | undefined,
): ShellSplit | undefined {
  const isOfSubject = checked !== undefined && (subject === undefined || checked.argument === subject);
  if (isOfSubject) return checked;
  return original === undefined ? undefined : notSplit;
}
