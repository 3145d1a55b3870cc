import { createHash, createSecretKey } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { BrowserSubscription, SubscribedPerson } from '../../channels/chat-app.ts';
import { createSeals } from '../../channels/sealed-text.ts';
import type { RecordName, Records } from '../../client/server/records.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { WebPushSettings } from './web-push-settings.ts';
import { nfc } from '../../core/base/text.ts';
import { inParallel } from '../../client/server/session.ts';
import type { ChannelRequest, ChannelStep } from '../../channels/channel.ts';
import { policyInvalid } from '../../channels/channel-kind.ts';
import { groupOf, isAmong, isOneOf, personKeyIn, isSamePerson, personKey } from '../../core/people/directory.ts';

export interface Subscription extends BrowserSubscription {
  person: string;
  /** The person's groups, as the gateway knew them at the time of the subscription. */
  groups: readonly string[];
}

export interface Subscriptions {
  add(person: SubscribedPerson, subscription: BrowserSubscription): Promise<void>;
  /** Returns false if the person has none of these subscriptions. */
  remove(person: string, endpoints: readonly string[]): Promise<boolean>;
  of(person: string): Promise<Subscription[]>;
  /** Returns all subscriptions. The newest may be missing, because Temporal's list of workflows lags behind. */
  all(): Promise<Subscription[]>;
}

const kind = 'push-subscriptions';
const mostPerPerson = 10;
/** Subscriptions expire, because they contain the person's groups, which change. The open inbox renews them. */
const lifetimeMs = 30 * 24 * 3_600_000;
/** The most characters of a person's groups. With more, no group is stored, because sealed texts are limited. */
const mostGroups = 3_000;

/**
 * Stores the subscriptions of each person in one record. A record is a workflow, and anyone who can start workflows can
 * write one. So each subscription contains its person, and is sealed with a key derived from the push keys. A forged
 * subscription, or a copy in another person's record, does not count. Only the last ten of a record are read.
 */
export function subscriptionsOf(
  { privateKey, publicKey, origin }: Pick<WebPushSettings, 'privateKey' | 'publicKey' | 'origin'>,
  records: Records,
): Subscriptions {
  const seals = createSeals({
    secret: createSecretKey(Buffer.from(privateKey, 'base64url')),
    publicUrl: origin,
    namespace: records.namespace,
  });
  const nameOf = (person: string): RecordName => ({ kind, owner: publicKey, id: personKey(person) });

  /** Returns the subscriptions of a record whose seals are valid and not expired, with their sealed texts. */
  async function opened(record: JsonObject | undefined): Promise<Kept[]> {
    const sealed = record?.['sealed'];
    const texts = Array.isArray(sealed) ? sealed.filter((each) => typeof each === 'string') : [];
    const contents = await Promise.all(
      texts.slice(-mostPerPerson).map(async (text) => ({ text, content: await seals.open('push', text) })),
    );
    return contents.flatMap(({ text, content }) =>
      content === undefined ? [] : [{ text, subscription: subscriptionOf(content) }],
    );
  }

  async function keptOf(person: string): Promise<Kept[]> {
    const kept = await opened(await records.get(nameOf(person)));
    return kept.filter(({ subscription }) => isSamePerson(subscription.person, person));
  }

  async function keep(person: string, kept: readonly string[]): Promise<void> {
    if (kept.length === 0) await records.remove(nameOf(person));
    else await records.put(nameOf(person), { sealed: [...kept] });
  }

  return {
    add: async ({ id, groups }, { endpoint, keys: { p256dh, auth } }) => {
      const others = (await keptOf(id)).filter(({ subscription }) => subscription.endpoint !== endpoint);
      const kept = groups.join('').length > mostGroups ? [] : [...groups];
      const content = { person: nfc(id), groups: kept, endpoint, keys: { p256dh, auth } };
      const sealed = await seals.seal('push', content, Date.now() + lifetimeMs);
      await keep(id, [...others.map(({ text }) => text), sealed].slice(-mostPerPerson));
    },
    remove: async (person, endpoints) => {
      const before = await keptOf(person);
      const left = before.filter(({ subscription }) => !endpoints.includes(subscription.endpoint));
      if (left.length === before.length) return false;
      const texts = left.map(({ text }) => text);
      await keep(person, texts);
      return true;
    },
    of: async (person) => (await keptOf(person)).map(({ subscription }) => subscription),
    all: async () => {
      const listed = await records.list({ kind, owner: publicKey });
      const kept = await Promise.all(
        listed.map(async ({ value, isOf }) => {
          // Ignore a copy in another person's record, because its owner could not remove it.
          return (await opened(value)).filter(({ subscription }) => isOf(subscription.person));
        }),
      );
      return kept.flat().map(({ subscription }) => subscription);
    },
  };
}

/** Returns a digest by which the result of `notify` refers to a subscription, without the subscription's address. */
export function subscriptionMark({ endpoint }: Pick<Subscription, 'endpoint'>): string {
  return createHash('sha256').update(endpoint).digest('base64url').slice(0, 12);
}

interface Kept {
  text: string;
  subscription: Subscription;
}

/** Converts the content of a sealed text unchecked, because only gateway and workers have the key to seal it. */
function subscriptionOf({ person, groups, endpoint, keys }: JWTPayload): Subscription {
  return { person, groups, endpoint, keys } as Subscription;
}

/** The most messages of one step, because the size of a result of `notify` is limited. */
const mostMessages = 200;
const readsAtOnce = 4;

/**
 * Returns the browsers of the people that a step asks, by name, group or delegation; without names, of all subscribers.
 * Leaves out people whose approval would not count and, for reminders and warnings, people who have voted. Throws
 * `policy_invalid` for too many browsers.
 */
export async function audienceOf(
  request: ChannelRequest,
  step: ChannelStep,
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  const names = step.kind === 'escalated' ? (step.to ?? []) : namesOf(request);
  const keyOf = personKeyIn(request);
  const asked = await subscribed(names, request, subscriptions);
  const isRepeated = step.kind === 'reminded' || step.kind === 'warned';
  const voted = new Set((isRepeated ? (request.votes ?? []) : []).map(({ reviewerId = '' }) => keyOf(reviewerId)));
  const isApprover = request.approvers && isAmong(undefined, request.approvers, keyOf);
  const counts = (person: string): boolean => isApprover?.(keyOf(person)) ?? true;
  const audience = asked.filter(({ person }) => counts(person) && !voted.has(keyOf(person)));
  if (audience.length <= mostMessages) return audience;
  const message = `No push message was sent: ${audience.length} browsers would get it, and ${mostMessages} may. Name fewer reviewers.`;
  throw policyInvalid(message);
}

/** Returns the browsers that got a message about a request and are still subscribed. */
export async function reachedBefore(
  request: ChannelRequest,
  marks: readonly string[],
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  if (marks.length === 0) return [];
  const isReached = (subscription: Subscription): boolean => marks.includes(subscriptionMark(subscription));
  const names = namesOf(request);
  // Read the people by name first, because the list of all subscriptions may lag behind.
  const named = names.length === 0 ? [] : (await subscribed(names, request, subscriptions)).filter(isReached);
  if (named.length === marks.length) return named;
  return once([...named, ...(await subscriptions.all()).filter(isReached)]);
}

/** Returns the browsers of the run's caller, also those stored under another id of the same person. */
export async function browsersOfCaller(
  { callerUserId, people = {} }: ChannelRequest,
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  if (callerUserId === null) return [];
  const keyOf = personKeyIn({ people });
  const callerKey = keyOf(callerUserId);
  const entries = Object.entries(people).filter(([id]) => keyOf(id) === callerKey);
  const ids = [callerUserId, ...entries.flatMap(([id, { also = [] }]) => [id, ...also])].map((id) => personKey(id));
  // Look up by id and never in the list of all, because a caller's name may equal a group's.
  return once((await inParallel([...new Set(ids)], readsAtOnce, (id) => subscriptions.of(id))).flat());
}

function namesOf({ reviewers, delegations = [] }: ChannelRequest): string[] {
  return [...reviewers, ...delegations.map(({ to }) => to)];
}

/** Returns the subscriptions of these people and groups; without names, all subscriptions. */
async function subscribed(
  names: readonly string[],
  request: ChannelRequest,
  subscriptions: Subscriptions,
): Promise<Subscription[]> {
  const keyOf = personKeyIn(request);
  const people = [...new Set(names.filter((name) => groupOf(name) === undefined).map((name) => keyOf(name)))];
  // A browser is stored under the id with which its person signed in, and a person may have several ids.
  const entries = Object.entries(request.people ?? {}).filter(([id]) => people.includes(keyOf(id)));
  const ids = [...people, ...entries.flatMap(([, { also = [] }]) => also)].map((id) => personKey(id));
  const named = await inParallel([...new Set(ids)], readsAtOnce, (person) => subscriptions.of(person));
  // The members of a group are found only in the list of all subscriptions, which contain their groups.
  const needsAll = names.length === 0 || people.length < names.length;
  const all = needsAll ? await subscriptions.all() : [];
  const wanted = all.filter((each) => names.length === 0 || isOneOf(directoryOf(each), each.person, names, keyOf));
  return once([...named.flat(), ...wanted]);
}

function directoryOf({ person, groups }: Subscription) {
  return { people: { [person]: { groups, keys: [] } } };
}

/** Removes repeated browsers, so that a browser of two people gets one message. */
function once(all: readonly Subscription[]): Subscription[] {
  return [...new Map(all.map((each) => [each.endpoint, each])).values()];
}
