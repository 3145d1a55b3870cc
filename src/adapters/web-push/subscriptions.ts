import { isSamePerson, personKey } from '../../core/people/person-key.ts';
import { createHash, createSecretKey } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { BrowserSubscription, SubscribedPerson } from '../../channels/chat-app.ts';
import { createSeals } from '../../channels/sealed-text.ts';
import type { RecordName, Records } from '../../client/server/records.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { WebPushSettings } from './web-push-settings.ts';
import { nfc } from '../../core/base/text.ts';

/** A person's browser that receives messages. */
export interface Subscription extends BrowserSubscription {
  person: string;
  /** As known to the gateway when the person subscribed. */
  groups: readonly string[];
}

/** The browsers that people have subscribed. */
export interface Subscriptions {
  add(person: SubscribedPerson, subscription: BrowserSubscription): Promise<void>;
  /** False if there was none. */
  remove(person: string, endpoints: readonly string[]): Promise<boolean>;
  of(person: string): Promise<Subscription[]>;
  /** A recent one may be missing. */
  all(): Promise<Subscription[]>;
}

const kind = 'push-subscriptions';
const mostPerPerson = 10;
/**
 * Bounded, because a person's groups at the identity provider change. The inbox renews the subscription when it is
 * open.
 */
const lifetimeMs = 30 * 24 * 3_600_000;
/** In characters: a sealed text has a greatest length. */
const mostGroups = 3_000;

/**
 * Each person has one record, which is a workflow: everyone who can start workflows can write one. So each subscription
 * names its person, and is sealed with a key derived from the push keys. A forged subscription does not count, nor a
 * copy in another person's record. Only the last ten of a record are read.
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
      const content = {
        person: nfc(id),
        groups: groups.join('').length > mostGroups ? [] : [...groups],
        endpoint,
        keys: { p256dh, auth },
      };
      const sealed = await seals.seal('push', content, Date.now() + lifetimeMs);
      await keep(id, [...others.map(({ text }) => text), sealed].slice(-mostPerPerson));
    },
    remove: async (person, endpoints) => {
      const before = await keptOf(person);
      const left = before.filter(({ subscription }) => !endpoints.includes(subscription.endpoint));
      if (left.length === before.length) return false;
      await keep(
        person,
        left.map(({ text }) => text),
      );
      return true;
    },
    of: async (person) => (await keptOf(person)).map(({ subscription }) => subscription),
    all: async () => {
      const listed = await records.list({ kind, owner: publicKey });
      const kept = await Promise.all(
        listed.map(async ({ value, isOf }) => {
          // A copy under another person would outlive the removal by its owner.
          return (await opened(value)).filter(({ subscription }) => isOf(subscription.person));
        }),
      );
      return kept.flat().map(({ subscription }) => subscription);
    },
  };
}

/** Names a subscription in what `notify` returns, without its address. */
export function subscriptionMark({ endpoint }: Pick<Subscription, 'endpoint'>): string {
  return createHash('sha256').update(endpoint).digest('base64url').slice(0, 12);
}

interface Kept {
  text: string;
  subscription: Subscription;
}

/** Only the gateway and the workers can have sealed it. */
function subscriptionOf({ person, groups, endpoint, keys }: JWTPayload): Subscription {
  return { person, groups, endpoint, keys } as Subscription;
}
