/**
 * What is left for reviewers where the policy says `include_arguments: false`: names, sizes, digests, severities and
 * fixed texts. Whatever is made of the arguments' values is left out, or stands as a placeholder.
 */
import type { ApprovalRequest, Settlement } from './approval.ts';
import type { Assessment } from '../assess/assessment.ts';
import type { RequestedScope } from '../messages/decision.ts';
import type { Grant, GrantScope } from '../policy/grants.ts';
import type { JournalEntry } from './journal-entry.ts';
import { argumentBytes } from './listed-request.ts';

/** Stands for a glob that a reviewer wrote to fit a value. */
export const hiddenText = '[HIDDEN]';

export function hideInRequest<Request extends ApprovalRequest>(request: Request): Request {
  const { arguments: args, shown } = request;
  return {
    ...request,
    arguments: {},
    ...(shown === 'all' && { argumentNames: Object.keys(args), argumentBytes: argumentBytes(args) }),
    assessment: hideInAssessment(request.assessment),
    // A model says beside a call what it is about to do.
    contextSummary: '',
    shown: 'part',
  };
}

/** That it was edited, and into what by its digest alone. */
export function hideInSettlement(settlement: Settlement): Settlement {
  const { edited } = settlement;
  return edited === undefined ? settlement : { ...settlement, edited: { ...edited, arguments: {} } };
}

/** A grant as reviewers see it; `showsArguments`: by the rules in force. */
export function shownGrant({ hidden, ...grant }: Grant, showsArguments: boolean): Grant {
  return showsArguments && hidden === undefined ? grant : { ...grant, scope: hideInScope(grant.scope) };
}

export function hideInVote<Vote extends { always?: boolean | RequestedScope }>(vote: Vote): Vote {
  const { always } = vote;
  return typeof always === 'object' ? { ...vote, always: hideInScope(always) } : vote;
}

export function hideInEntry(entry: JournalEntry): JournalEntry {
  return entry.scope === undefined ? entry : { ...entry, scope: hideInScope(entry.scope) };
}

/** What an assessor of the worker's own wrote may hold anything; all other texts are fixed. */
function hideInAssessment({ fromWorker = [], ...assessment }: Assessment): Assessment {
  const isFixed = (text: string): boolean => !fromWorker.includes(text);
  return {
    ...assessment,
    reasons: assessment.reasons.filter(isFixed),
    affectedResources: [],
    recommendations: assessment.recommendations.filter(isFixed),
  };
}

function hideInScope<Scope extends GrantScope | RequestedScope>(scope: Scope): Scope {
  if (!('match' in scope) || scope.match === undefined) return scope;
  return { ...scope, match: Object.fromEntries(Object.keys(scope.match).map((name) => [name, hiddenText])) };
}
