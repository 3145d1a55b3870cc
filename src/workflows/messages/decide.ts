/** Message `decide`: a reviewer's answer to one request, with or without edited arguments. */
import { decideName } from '../../contract.ts';
import type { Receipt } from '../../core/ledger/approval.ts';
import { parseDecision, type ParsedDecision } from '../../core/messages/decision.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import { checkEdit } from './check-edit.ts';
import type { InFlight } from '../state/in-flight.ts';
import type { MessageKind } from './message-kind.ts';
import { refused } from './message-kind.ts';

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
    undatedAtMs: ({ requestId, approved }) => (approved ? Number.POSITIVE_INFINITY : inTimeIfRuns(state, requestId)),
    preview: (decision, { voter }, atMs) => {
      const receipt = state.preview({ kind: 'decide', atMs, decision, voter });
      if (receipt.code !== undefined) return receipt;
      if (isOutdated(decision)) return outdated(decision);
      return isInTheWay(decision) ? inTheWay(decision) : receipt;
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

  /** Nobody lets a call run on a card that lacks what the user has said since. A denial needs no newer card. */
  function isOutdated({ requestId, approved, response, viewed, decisionId }: ParsedDecision): boolean {
    const seen = viewed?.userMessages;
    if (seen === undefined || seen >= userMessageCount() || (!approved && response === undefined)) return false;
    const open = state.ledger.open.find(({ request }) => request.requestId === requestId);
    // A vote that counts already is a retry.
    return open !== undefined && !open.votes.some((vote) => decisionId !== undefined && vote.decisionId === decisionId);
  }

  /** Only one edit of a request may be in flight. */
  function isInTheWay({ requestId, modifiedArguments }: ParsedDecision): boolean {
    return modifiedArguments !== undefined && inFlight.holds(requestId);
  }
}

/**
 * If the call runs at its deadline without a decision, what stops it or puts the deadline off counts as in time although its
 * time is unknown. Infinity if it does not run then.
 */
export function inTimeIfRuns({ ledger }: GateState, requestId: string): number {
  const open = ledger.open.find(({ request }) => request.requestId === requestId);
  return (open?.terms.onTimeout === 'allow' ? open.deadlineMs : null) ?? Number.POSITIVE_INFINITY;
}

function outdated({ requestId }: ParsedDecision): Receipt {
  const message = `the user has written since the card of request ${requestId} was shown: look at it again`;
  return refused(requestId, { code: 'request_changed', message });
}

function inTheWay({ requestId }: ParsedDecision): Receipt {
  const message = `another edit of request ${requestId} is being checked: repeat it`;
  return refused(requestId, { code: 'rate_limited', message });
}
