import { inParallel } from '../../client/server/call-server.ts';
import type { ChannelRequest, ChannelStep } from '../../channels/channel.ts';
import { policyInvalid } from '../../channels/channel-kind.ts';
import { groupOf, isAmong, isOneOf, personKeyIn } from '../../core/people/directory.ts';
import { personKey } from '../../core/people/person-key.ts';
import { subscriptionMark, type Subscription, type Subscriptions } from './subscriptions.ts';

/** The most messages of one step: `sent` could not store more. */
const mostMessages = 200;
const readsAtOnce = 4;

/**
 * The browsers of the people that a step asks: named people, by their name or a group, and delegates of seats; without
 * names, all subscribers. A person whose approval would not count is not asked, and a person who has voted gets no
 * reminder. Throws `policy_invalid` for too many.
 */
export async function audienceOf(
  request: ChannelRequest,
  step: ChannelStep,
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  const names = step.kind === 'escalated' ? (step.to ?? []) : namesOf(request);
  const keyOf = personKeyIn(request);
  const found = await subscribed(names, request, subscriptions);
  const isRepeated = step.kind === 'reminded' || step.kind === 'warned';
  const voted = new Set((isRepeated ? (request.votes ?? []) : []).map(({ reviewerId = '' }) => keyOf(reviewerId)));
  const isApprover = request.approvers && isAmong(undefined, request.approvers, keyOf);
  const counts = (person: string): boolean => isApprover?.(keyOf(person)) ?? true;
  const audience = found.filter(({ person }) => counts(person) && !voted.has(keyOf(person)));
  if (audience.length <= mostMessages) return audience;
  const message = `No push message was sent: ${audience.length} browsers would get it, and ${mostMessages} may. Name fewer reviewers.`;
  throw policyInvalid(message);
}

/** The browsers that got messages about a request and are still subscribed. */
export async function reachedBefore(
  request: ChannelRequest,
  marks: readonly string[],
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  if (marks.length === 0) return [];
  const isReached = (each: Subscription): boolean => marks.includes(subscriptionMark(each));
  const names = namesOf(request);
  // The list of all may lag, so named people are looked up first.
  const named = names.length === 0 ? [] : (await subscribed(names, request, subscriptions)).filter(isReached);
  return named.length === marks.length ? named : once([...named, ...(await subscriptions.all()).filter(isReached)]);
}

/** The browsers of the run's caller, under any of their ids. */
export async function browsersOfCaller(
  { callerUserId, people = {} }: ChannelRequest,
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  if (callerUserId === null) return [];
  const keyOf = personKeyIn({ people });
  const person = keyOf(callerUserId);
  const others = Object.entries(people).filter(([id]) => keyOf(id) === person);
  const ids = [callerUserId, ...others.flatMap(([id, { also = [] }]) => [id, ...also])].map((id) => personKey(id));
  // Never by a list: a caller's name may equal a group's.
  return once((await inParallel([...new Set(ids)], readsAtOnce, (id) => subscriptions.of(id))).flat());
}

function namesOf({ reviewers, delegations = [] }: ChannelRequest): string[] {
  return [...reviewers, ...delegations.map(({ to }) => to)];
}

/**
 * The subscriptions of the named people and of the members of the named groups; all subscriptions if no names are
 * given.
 */
async function subscribed(
  names: readonly string[],
  request: ChannelRequest,
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  const keyOf = personKeyIn(request);
  const people = [...new Set(names.filter((name) => groupOf(name) === undefined).map((name) => keyOf(name)))];
  // A browser is stored under the id with which its person signed in.
  const others = Object.entries(request.people ?? {}).filter(([id]) => people.includes(keyOf(id)));
  const ids = [...people, ...others.flatMap(([, { also = [] }]) => also)].map((id) => personKey(id));
  const named = await inParallel([...new Set(ids)], readsAtOnce, (person) => subscriptions.of(person));
  const needsAll = names.length === 0 || people.length < names.length;
  const all = needsAll ? await subscriptions.all() : [];
  const wanted = all.filter((each) => names.length === 0 || isOneOf(directoryOf(each), each.person, names, keyOf));
  return once([...named.flat(), ...wanted]);
}

function directoryOf({ person, groups }: Subscription) {
  return { people: { [person]: { groups, keys: [] } } };
}

/** A browser that two people use gets one message. */
function once(all: readonly Subscription[]): Subscription[] {
  return [...new Map(all.map((each) => [each.endpoint, each])).values()];
}
