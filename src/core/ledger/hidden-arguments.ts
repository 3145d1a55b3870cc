/**
 * The views for reviewers if the policy says `include_arguments: false`. They show names, sizes, digests, severities
 * and fixed texts. Anything made from argument values is left out or replaced by a placeholder.
 */
import type { ApprovalRequest, Settlement } from './approval.ts';
import type { Assessment } from '../assess/assessment.ts';
import type { RequestedScope } from '../messages/decision.ts';
import { withoutReasons } from '../policy/advice.ts';
import type { Grant, GrantScope } from '../policy/grants.ts';
import type { JournalEntry } from './journal-entry.ts';
import { argumentBytes } from './listed-request.ts';

/** Replaces a glob that a reviewer wrote to match a value. */
export const hiddenText = '[HIDDEN]';

export function hideInRequest<Request extends ApprovalRequest>(request: Request): Request {
  const { arguments: args, shown } = request;
  return {
    ...request,
    sentence: undefined,
    arguments: {},
    shownArguments: undefined,
    notShown: undefined,
    ...(shown === 'all' && { argumentNames: Object.keys(args), argumentBytes: argumentBytes(args) }),
    assessment: hideInAssessment(request.assessment),
    advice: request.advice && withoutReasons(request.advice),
    // The model's text beside a call describes what the call does.
    contextSummary: '',
    shown: 'part',
  };
}

/** Shows that the call was edited; of the new arguments, only the digest. */
export function hideInSettlement(settlement: Settlement): Settlement {
  const { edited } = settlement;
  return edited === undefined ? settlement : { ...settlement, edited: { ...edited, arguments: {} } };
}

/** A grant as reviewers see it. `showsArguments`: by the active policies. */
export function shownGrant({ hidden, redacted, ...grant }: Grant, showsArguments: boolean): Grant {
  const isShown = showsArguments && hidden === undefined;
  return { ...grant, scope: isShown ? hideGlobs(grant.scope, redacted ?? []) : hideInScope(grant.scope) };
}

/** Hides the globs on these arguments: a glob may spell what is hidden of one. */
export function hideGlobs<Scope extends GrantScope | RequestedScope>(scope: Scope, names: readonly string[]): Scope {
  if (!('match' in scope) || scope.match === undefined) return scope;
  const hidden = new Set(names);
  const match = Object.entries(scope.match).map(([name, glob]) => [name, hidden.has(name) ? hiddenText : glob]);
  return { ...scope, match: Object.fromEntries(match) as Record<string, string> };
}

export function hideInVote<Vote extends { always?: boolean | RequestedScope }>(vote: Vote): Vote {
  const { always } = vote;
  return typeof always === 'object' ? { ...vote, always: hideInScope(always) } : vote;
}

export function hideInEntry(entry: JournalEntry): JournalEntry {
  return entry.scope === undefined ? entry : { ...entry, scope: hideInScope(entry.scope) };
}

/** The worker's own assessors may write anything; all other texts are fixed. */
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
  return hideGlobs(scope, 'match' in scope ? Object.keys(scope.match ?? {}) : []);
}
