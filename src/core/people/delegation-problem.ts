import { Seats, seatsOf, withDelegation } from './delegation.ts';
import { groupOf, personKey, type PersonKey } from './directory.ts';
import { entitlement, type Ballot, type Panel, type Voter } from './entitlement.ts';
import type { Problem } from '../base/problem.ts';
import { nfc } from '../base/text.ts';

/** Why `from` may not give `to` their seat. Votes stay: people who have voted neither give nor get seats. */
export function delegationProblem(
  panel: Panel,
  votes: readonly Ballot[],
  from: Voter,
  to: string,
): Problem | undefined {
  const { keyOf = personKey } = panel;
  const name = nfc(from.reviewerId) ?? '';
  const id = keyOf(name);
  if (name === '' || from.identity === 'anonymous') {
    return { code: 'not_entitled', message: 'a delegation must say who sends it' };
  }
  if (to === '' || groupOf(to) !== undefined) return invalid(`a request is delegated to one person, not to '${to}'`);
  const denied = entitlement(panel, from, false);
  if (denied !== undefined) return denied;
  const seats = new Seats(panel.delegations, keyOf);
  // If `to` has given their own seat away, the seat of `from` goes on to the same holder.
  const holder = seats.holderOf(keyOf(to));
  const holderName = holder === keyOf(to) ? nfc(to) : seats.nameOf(holder);
  if (holder === id) return invalid(`'${name}' would only delegate this request to themselves`);
  const hasVoted = (key: string) => hasVoteOf(votes, key, keyOf);
  if (hasVoted(id)) return invalid(`'${name}' has voted already, and the vote stands`);
  if (hasVoted(holder)) return invalid(`'${holderName}' has voted already, and the vote stands`);
  const caller = nfc(panel.callerUserId);
  const after = seatsOf([...panel.delegations, { from: name, to }], holder, keyOf);
  const movedSeat = after.find(([owner]) => owner === id);
  if (!panel.allowSelf && caller !== undefined && movedSeat?.includes(keyOf(caller))) {
    const message = `'${holderName}' could approve nothing with it: the run was started by '${caller}', through whom the seat would go`;
    return { code: 'self_approval', message };
  }
  return undefined;
}

/** Why `from` may not take back the seat that they gave away: its holder has voted. Undefined if they may. */
export function takeBackProblem(panel: Panel, votes: readonly Ballot[], from: Voter): Problem | undefined {
  const { keyOf = personKey, delegations } = panel;
  const name = nfc(from.reviewerId) ?? '';
  // The voter must be entitled to decide once the seat is back.
  const withSeatBack = { ...panel, delegations: withDelegation(delegations, { from: name, to: name }, keyOf) };
  const denied = entitlement(withSeatBack, from, false);
  if (denied !== undefined) return denied;
  const seats = new Seats(delegations, keyOf);
  const holder = seats.holderOf(keyOf(name));
  if (!hasVoteOf(votes, holder, keyOf)) return undefined;
  return invalid(`'${seats.nameOf(holder)}' has voted with it already, and the vote stands`);
}

function hasVoteOf(votes: readonly Ballot[], key: string, keyOf: PersonKey): boolean {
  return votes.some(({ reviewerId = '' }) => reviewerId !== '' && keyOf(reviewerId) === key);
}

function invalid(message: string): Problem {
  return { code: 'invalid_message', message };
}
