/**
 * Who may decide a request, and how votes count. Each requirement is met separately: its reviewers give `quorum`
 * approvals, and different people give one for each of `oneOfEach`. A person has one vote, however many seats.
 */
import { Seats, type Delegation, type Seat } from './delegation.ts';
import {
  groupOf,
  isAmong,
  membersOf,
  membersOfOne,
  personKey,
  widely,
  type Directory,
  type PersonKey,
} from './directory.ts';
import type { Problem } from '../base/problem.ts';
import { nfc } from '../base/text.ts';
import { peopleIn, revokedOf, revokedSentence, type Revoked } from './revoked.ts';

/** `claimed`: a name in a raw signal or update. `verified`: by a signature, or by an edge that authenticates people. */
export type Identity = 'anonymous' | 'claimed' | 'verified';

export interface Voter {
  /** Absent or empty: anonymous. */
  reviewerId?: string;
  identity: Identity;
  /** The id of the key that signed the message. Absent: the message was not signed. */
  keyId?: string;
}

export interface Ballot extends Voter {
  approved: boolean;
}

/** A requirement at a given time, with the directory that resolves its groups. */
export interface SeatedRequirement {
  /** Names, or `group:NAME`. Empty: the names in `oneOfEach`; if that is empty too, anyone. */
  reviewers: readonly string[];
  /** Approvals needed from these reviewers, 1 or more. */
  quorum: number;
  oneOfEach: readonly string[];
  /** The directory of the requirement's layer; if that has none, of the nearest layer above. */
  directory: Directory | undefined;
}

/** Everything about one open request that decides whose votes count. */
export interface Panel {
  requirements: readonly SeatedRequirement[];
  /** True: an anonymous decision does not count. It never counts if a requirement names reviewers. */
  named?: boolean;
  /** True: one denial settles the request. */
  veto: boolean;
  /** True if only verified voters count. */
  verified: boolean;
  /** True if the person who started the run may approve. */
  allowSelf: boolean;
  callerUserId: string | null;
  delegations: readonly Delegation[];
  /** True: a channel does not answer in its own name. */
  noChannels?: boolean;
  /** How the run compares names. Default: as the newest engine does. */
  keyOf?: PersonKey;
  revoked?: Revoked;
  /** Returns whether a person, given by their person key, can sign. Absent: every person can. */
  canVerify?: (key: string) => boolean;
}

/** The start of the name under which a channel answers without naming a person. */
export const byChannel = 'channel:';

/**
 * Why a voter may not decide. An anonymous voter may, unless a reviewer is named or several approvals are needed. The
 * person who started the run approves nothing, not even by a seat that they gave away, unless `allowSelf`.
 */
export function entitlement(panel: Panel, voter: Voter, approves: boolean): Problem | undefined {
  return entitlementOf(panel, seatsIn(panel))(voter, approves);
}

function seatsIn({ delegations, keyOf }: Panel): Seats {
  return new Seats(delegations, keyOf);
}

/** Returns `entitlement` as a function, so that the names of each requirement are read once, on their first use. */
function entitlementOf(panel: Panel, seats: Seats): (voter: Voter, approves: boolean) => Problem | undefined {
  const reviewerTests: ((personId: string) => boolean)[] = [];
  const isReviewer = (index: number, { directory, reviewers, oneOfEach }: SeatedRequirement, ownSeats: Seat[]) => {
    if (reviewers.length + oneOfEach.length === 0) return ownSeats.length > 0;
    const isAsked = (reviewerTests[index] ??= isAmong(directory, [...reviewers, ...oneOfEach], panel.keyOf));
    return ownSeats.some(([owner]) => isAsked(owner));
  };
  const isAnyReviewer = (ownSeats: Seat[]) =>
    panel.requirements.some((requirement, index) => isReviewer(index, requirement, ownSeats));
  return (voter, approves) => {
    const identityProblem = identityProblemOf(panel, voter);
    if (identityProblem !== undefined) return identityProblem;
    const id = idOf(panel, voter);
    if (id === undefined) {
      if (!namesReviewers(panel)) return undefined;
      return {
        code: 'not_entitled',
        message: `a decision about this request needs 'reviewerId': not everyone may decide`,
      };
    }
    const name = nfc(voter.reviewerId);
    const ownSeats = seats.of(id);
    if (ownSeats.length === 0) {
      const holder = seats.nameOf(seats.holderOf(id));
      return { code: 'not_entitled', message: `'${name}' has delegated this request; '${holder}' decides instead` };
    }
    if (!isAnyReviewer(ownSeats)) {
      const message = `'${name}' is not among the reviewers of this request${groupsHint(panel)}`;
      return { code: 'not_entitled', message };
    }
    if (approves && !isAnyReviewer(approvingSeats(panel, seats, id))) {
      const message = `'${name}' cannot approve: the run was started by '${panel.callerUserId}', and nobody may approve calls of their own run`;
      return { code: 'self_approval', message };
    }
    return undefined;
  };
}

/** Why a voter may not decide because of who they are: revoked, not verified, or a channel where a person must look. */
function identityProblemOf({ revoked, keyOf, verified, noChannels }: Panel, voter: Voter): Problem | undefined {
  const revokedName = revokedOf(revoked, voter, keyOf);
  if (revokedName !== undefined) return { code: 'not_entitled', message: revokedSentence(revokedName) };
  if (verified && voter.identity !== 'verified') {
    return { code: 'unverified_reviewer', message: 'only verified reviewers decide this request: sign the decision' };
  }
  const name = nfc(voter.reviewerId);
  if (noChannels !== true || name?.startsWith(byChannel) !== true) return undefined;
  return { code: 'not_entitled', message: `'${name}' names no person, who has to look: the call may have run` };
}

const mostApprovers = 200;
/** The largest directory that is searched: each query of a run searches it again. */
const mostSearched = 1_000;
/** The most comparisons of people with names in one search. */
const mostLookups = 5_000_000;

/** The people who have not voted and can approve now. Undefined: anyone can, or too many to search or to list. */
export function approversOf(panel: Panel, votes: readonly Voter[]): string[] | undefined {
  const { requirements, delegations, keyOf = personKey } = panel;
  if (requirements.some(({ reviewers, oneOfEach }) => reviewers.length + oneOfEach.length === 0)) return undefined;
  if (requirements.some(({ directory }) => Object.keys(directory?.people ?? {}).length > mostSearched))
    return undefined;
  const asked = new Map<string, string>();
  const ask = (name: string): void => {
    const key = keyOf(name);
    if (!asked.has(key)) asked.set(key, nfc(name));
  };
  // The work is bounded before it is done: `lookups` for the members of groups, then people times names.
  let names = 0;
  let lookups = 0;
  for (const { directory, reviewers, oneOfEach } of requirements) {
    const own = new Set([...reviewers, ...oneOfEach]);
    names += own.size;
    lookups += own.size * Object.keys(directory?.people ?? {}).length;
    if (lookups > mostLookups) return undefined;
    for (const name of membersOf(directory, [...own], keyOf)) ask(name);
  }
  for (const { to } of delegations) ask(to);
  if (asked.size * names > mostLookups) return undefined;
  const unrevoked = votes.filter((vote) => revokedOf(panel.revoked, vote, panel.keyOf) === undefined);
  const voted = new Set(unrevoked.map((vote) => idOf(panel, vote)));
  const problemOf = entitlementOf(panel, seatsIn(panel));
  const approvers = [...asked.values()].filter((reviewerId) => {
    const key = keyOf(reviewerId);
    if (voted.has(key) || !maySign(panel, key)) return false;
    return problemOf({ reviewerId, identity: 'verified' }, true) === undefined;
  });
  return approvers.length > mostApprovers ? undefined : approvers;
}

/**
 * Counts the votes. `need`: the approvals that all requirements need, in sum. `have`: those given so far. With
 * `veto`, one denial settles the request. Without it, denials settle the request once no further votes of known
 * people could meet its requirements. Votes that do not count, and second votes of a person, change nothing.
 */
export function tally(
  panel: Panel,
  votes: readonly Ballot[],
): { outcome?: 'approved' | 'denied'; have: number; need: number } {
  const seats = seatsIn(panel);
  const voted = countedVotes(panel, seats, votes);
  const approving = [...voted.keys()].filter((id) => voted.get(id) === true);
  const need = total(panel.requirements.map(placesOf));
  const missing = total(panel.requirements.map((requirement) => missingIn(panel, seats, requirement, approving)));
  const denied = approving.length < voted.size;
  const settled = { have: need - missing, need };
  if (denied && panel.veto) return { outcome: 'denied', ...settled };
  // Never approved without a voter, whatever a panel demands (I2).
  if (missing === 0 && approving.length > 0) return { outcome: 'approved', ...settled };
  if (denied && shortageOf(panel, seats, voted) !== undefined) return { outcome: 'denied', ...settled };
  return settled;
}

/** The votes that count, by the person key of the voter. True: an approval. */
function countedVotes(panel: Panel, seats: Seats, votes: readonly Ballot[]): Map<string, boolean> {
  const problemOf = entitlementOf(panel, seats);
  const voted = new Map<string, boolean>();
  for (const vote of votes) {
    const id = idOf(panel, vote) ?? anonymous;
    if (!voted.has(id) && problemOf(vote, vote.approved) === undefined) voted.set(id, vote.approved);
  }
  return voted;
}

/** Stands for all votes without a reviewer, which cannot be told apart. */
const anonymous = '';

export interface Shortage {
  requirement: SeatedRequirement;
  /** The person keys of people who can still approve for the requirement, no more than it needs. */
  able: string[];
}

/** The first requirement that further votes of known people cannot meet; undefined if the request can be approved. */
export function shortageIn(panel: Panel, votes: readonly Ballot[]): Shortage | undefined {
  const seats = seatsIn(panel);
  return shortageOf(panel, seats, countedVotes(panel, seats, votes));
}

/** The first requirement that cannot be met after the votes in `voted`. One that names no reviewers always can. */
function shortageOf(panel: Panel, seats: Seats, voted: ReadonlyMap<string, boolean>): Shortage | undefined {
  const { keyOf = personKey, revoked } = panel;
  const revokedPeople = revoked === undefined ? new Set<string>() : peopleIn(revoked, keyOf);
  for (const requirement of panel.requirements) {
    const { directory, reviewers, quorum, oneOfEach } = requirement;
    if (reviewers.length + oneOfEach.length === 0) continue;
    const canApprove = (owner: string): boolean => {
      const holder = seats.holderOf(owner);
      // People who have voted keep their vote: an approval counts, a denial means that they cannot approve.
      const mayVote = voted.get(holder) ?? maySign(panel, holder);
      return mayVote && !revokedPeople.has(holder) && canApproveBy(panel, seats.seatOf(owner));
    };
    /** At most `most` people who can still approve for one of the names. */
    const possible = (names: readonly string[], most: number): string[] => {
      const holders = new Set<string>();
      const distinct = new Map(names.map((name) => [nameKey(name, keyOf), name]));
      for (const name of distinct.values()) {
        for (const owner of membersOfOne(directory, name, panel.keyOf)) {
          if (holders.size >= most) return [...holders];
          if (canApprove(owner)) holders.add(seats.holderOf(owner));
        }
      }
      return [...holders];
    };
    const able = possible(reviewers.length > 0 ? reviewers : oneOfEach, placesOf(requirement));
    if (able.length < quorum) return { requirement, able };
    // `oneOfEach.length` candidates for a place are enough: the other places cannot take all of them.
    const candidates = new Map(oneOfEach.map((name) => [name, new Set(possible([name], oneOfEach.length))]));
    const people = new Set([...candidates.values()].flatMap((ids) => [...ids]));
    const placed = maxMatching(oneOfEach, [...people], (name, id) => candidates.get(name)!.has(id));
    if (placed < oneOfEach.length) return { requirement, able: [...people] };
  }
  return undefined;
}

function nameKey(name: string, keyOf: PersonKey): string {
  const group = groupOf(name);
  return group === undefined ? keyOf(name) : `group:${keyOf(group)}`;
}

function maySign({ verified, canVerify }: Panel, key: string): boolean {
  return !verified || canVerify === undefined || canVerify(key);
}

function placesOf({ quorum, oneOfEach }: SeatedRequirement): number {
  return Math.max(quorum, oneOfEach.length);
}

/** How many approvals a requirement still needs. One approval may count for the quorum and for `oneOfEach`. */
function missingIn(panel: Panel, seats: Seats, requirement: SeatedRequirement, approving: readonly string[]): number {
  const { directory, reviewers, quorum, oneOfEach } = requirement;
  const owners = new Map(approving.map((id) => [id, approvingSeats(panel, seats, id).map(([owner]) => owner)]));
  const hasSeatOf = (names: readonly string[]): ((id: string) => boolean) => {
    const isNamed = isAmong(directory, names, panel.keyOf);
    return (id) => owners.get(id)!.some(isNamed);
  };
  const names = reviewers.length > 0 ? reviewers : oneOfEach;
  const counted = names.length === 0 ? approving : approving.filter(hasSeatOf(names));
  const placed = maxMatching(
    oneOfEach.map((name) => hasSeatOf([name])),
    approving,
    (canFill, id) => canFill(id),
  );
  return Math.max(quorum - counted.length, oneOfEach.length - placed, 0);
}

function approvingSeats(panel: Panel, seats: Seats, id: string): Seat[] {
  return id === anonymous ? [[anonymous]] : seats.of(id).filter((seat) => canApproveBy(panel, seat));
}

/** False for a seat that passed through the person who started the run, unless `allowSelf` is set. */
function canApproveBy(panel: Panel, seat: Seat): boolean {
  return panel.allowSelf || !seat.some((id) => isCaller(panel, id));
}

/** True if this person started the run, or may have: `widely` compares their names in doubt. */
export function isCaller({ callerUserId, keyOf = personKey }: Panel, id: string): boolean {
  if (callerUserId === null) return false;
  const [one, other] = [keyOf(id), keyOf(callerUserId)];
  return one === other || (keyOf !== nfc && widely(one) === widely(other));
}

/** A hint if the requirements name groups, because people often think of the groups in their credential. */
function groupsHint({ requirements }: Panel): string {
  const names = requirements.flatMap(({ reviewers, oneOfEach }) => [...reviewers, ...oneOfEach]);
  return names.some((name) => groupOf(name) !== undefined)
    ? `: the directory of the policy says who is in a group`
    : '';
}

function namesReviewers({ named = false, requirements }: Panel): boolean {
  return (
    named ||
    requirements.some(({ reviewers, quorum, oneOfEach }) => quorum > 1 || reviewers.length + oneOfEach.length > 0)
  );
}

/** The voter's person key; undefined if the voter is anonymous. */
function idOf({ keyOf = personKey }: Panel, { reviewerId = '', identity }: Voter): string | undefined {
  return reviewerId === '' || identity === 'anonymous' ? undefined : keyOf(reviewerId);
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** How many places different people can fill, one each: a maximum matching, in which people move to make room. */
export function maxMatching<Place, Person>(
  places: readonly Place[],
  people: readonly Person[],
  fits: (place: Place, person: Person) => boolean,
): number {
  // `places.length` candidates for a place are enough: the other places cannot take all of them.
  const candidates = places.map((place) => firstOf(people, places.length, (person) => fits(place, person)));
  const placeOf = new Map<Person, number>();
  const fill = (place: number, tried: Set<Person>): boolean =>
    candidates[place]!.some((person) => {
      if (tried.has(person)) return false;
      tried.add(person);
      // A person who fills another place can move here if someone else can fill that place.
      const taken = placeOf.get(person);
      if (taken !== undefined && !fill(taken, tried)) return false;
      placeOf.set(person, place);
      return true;
    });
  return places.filter((_, place) => fill(place, new Set())).length;
}

/** The first items that are wanted, at most `most`. */
function firstOf<Item>(items: Iterable<Item>, most: number, isWanted: (item: Item) => boolean): Item[] {
  const found: Item[] = [];
  for (const item of items) {
    if (found.length >= most) break;
    if (isWanted(item)) found.push(item);
  }
  return found;
}
