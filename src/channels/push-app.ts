/** What web push and the gateway need of one another, so that neither adapter imports the other. */
import type { Records } from '../client/server/records.ts';

/** The part of a web push channel that takes subscriptions: the gateway passes on those of people who are signed in. */
export interface PushApp {
  /** The key by which browsers subscribe: base64url, 65 bytes. */
  readonly publicKey: string;
  /** The origin of the gateway to which messages lead. */
  readonly gatewayUrl: string;
  /**
   * Stores a subscription of a person for 30 days; it replaces one of the same endpoint. A person has at most ten: the
   * oldest is removed. Throws a `ProblemError` (`arguments_invalid`) for an endpoint that no message may be sent to, and
   * for a key that is not valid.
   */
  subscribe(person: SubscribedPerson, subscription: BrowserSubscription, records: Records): Promise<void>;
  /** True if the person had a subscription of this endpoint. */
  unsubscribe(person: Pick<SubscribedPerson, 'id'>, endpoint: string, records: Records): Promise<boolean>;
}

/** Whose subscription it is, as the gateway knows them. */
export interface SubscribedPerson {
  id: string;
  /** Without `group:`. */
  groups: readonly string[];
}

/** A subscription, as a browser makes it. */
export interface BrowserSubscription {
  /** The URL to which messages for this browser are posted. */
  endpoint: string;
  /** base64url: the browser's public key (65 bytes), and a secret that it shares with the sender (16 bytes). */
  keys: { p256dh: string; auth: string };
}
