import { Seats } from './delegation.ts';
import { membersOf, personKey } from './directory.ts';
import { shortageIn, type Ballot, type Panel, type SeatedRequirement } from './entitlement.ts';

/** Why no votes can approve a request, and what to do. `panel` has all reviewers that escalation can add. */
export function cannotBeApproved(panel: Panel, votes: readonly Ballot[]): string | undefined {
  const why = whyNotApproved(panel, votes);
  return why && `${why} Deny it: a new run needs a policy with more reviewers.`;
}

/** Why no votes can approve a request, as sentences without the advice to deny it; undefined if some can. */
export function whyNotApproved(panel: Panel, votes: readonly Ballot[]): string | undefined {
  const shortage = shortageIn(panel, votes);
  if (shortage === undefined) return undefined;
  const { keyOf = personKey, callerUserId, allowSelf, verified, canVerify, delegations } = panel;
  const { able, requirement } = shortage;
  const { directory, reviewers, oneOfEach } = requirement;
  const asked = membersOf(directory, [...reviewers, ...oneOfEach], keyOf);
  const seats = new Seats(delegations, keyOf);
  const nameOf = new Map(asked.map((name) => [keyOf(name), name]));
  const ableNames = able.map((key) => nameOf.get(key) ?? seats.nameOf(key));
  const none = asked.length === 1 ? `${quoted(asked)} cannot give one` : 'none of them can give one';
  const whoCan = ableNames.length === 0 ? none : `only ${quoted(ableNames)} can give one`;
  const isCallerAsked = callerUserId !== null && !allowSelf && nameOf.has(keyOf(callerUserId));
  const keyless = verified && canVerify !== undefined ? asked.filter((name) => !canVerify(keyOf(name))) : [];
  const denied = asked.filter((name) =>
    votes.some((vote) => !vote.approved && keyOf(vote.reviewerId ?? '') === keyOf(name)),
  );
  return [
    `It cannot be approved: it needs ${needOf(requirement)}, and ${whoCan}.`,
    ...(isCallerAsked ? [`The run was started by '${callerUserId}'.`] : []),
    ...(denied.length > 0 ? [`${quoted(denied)} denied it.`] : []),
    ...(keyless.length > 0 ? [`The operator's policy has no key with which ${quoted(keyless)} could sign.`] : []),
  ].join(' ');
}

/** What a requirement needs, in words, such as `2 approvals of 'ann' or 'bob'`. */
function needOf({ reviewers, quorum, oneOfEach }: SeatedRequirement): string {
  const each = oneOfEach.length < 2 ? '' : ', each by another person';
  const ofEach = oneOfEach.length === 0 ? [] : [`an approval of ${quoted(oneOfEach)}${each}`];
  const names = reviewers.length > 0 ? reviewers : oneOfEach;
  // Without reviewers, the approvals of `oneOfEach` also make the quorum, unless it is larger.
  const isOwnDemand = reviewers.length > 0 || quorum > oneOfEach.length;
  const ofQuorum = isOwnDemand
    ? [`${quorum === 1 ? 'an approval' : `${quorum} approvals`} of ${quoted(names, 'or')}`]
    : [];
  return [...ofQuorum, ...ofEach].join(' and ');
}

const mostShown = 5;

/** Names in quotes, joined by commas and `word`. After five names, only the number of the others. */
function quoted(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  const shown = names.slice(0, mostShown).map((name) => `'${name}'`);
  const left = names.length - shown.length;
  const all = left === 0 ? shown : [...shown, `${left} more`];
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} ${word} ${all.at(-1)!}`;
}
