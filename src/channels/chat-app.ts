/** The interfaces between chat services and the gateway, so that neither adapter imports the other. */
import type { ApprovalDetails, Decision, Receipt } from '../contract.ts';
import type { Records } from '../client/server/records.ts';

/** The part of a chat channel that receives its users' answers. */
export interface ChatApp {
  /**
   * Answers a request of the chat service to a route of the gateway. The app verifies the service's signature, because
   * the gateway does not authenticate the sender. Absent: the service sends nothing to the gateway.
   */
  receive?(request: ChatRequest, gateway: ChatGateway): Promise<Response>;
  /** Connects to the chat service, which sends answers over the connection. Absent: it uses none. */
  connect?(gateway: ChatGateway): ChatConnection;
  /** Waits until all answers are processed: some take longer than the service waits for the response. */
  drain(): Promise<void>;
}

/** A connection to a chat service that reconnects until it is closed. */
export interface ChatConnection {
  /** Stops receiving. */
  close(): Promise<void>;
}

/** A request of a chat service, as received. */
export interface ChatRequest {
  headers: Headers;
  body: Uint8Array;
}

/** An account of a chat service. */
export interface ChatAccount {
  team: string;
  user: string;
  /** The display name of the account at the service. It proves nothing. */
  name: string;
}

/** The gateway, for a chat app. */
export interface ChatGateway {
  /** The person who is linked to this account now; undefined if there is none. */
  personOf(account: ChatAccount): Promise<LinkedPerson | undefined>;
  /** The address of the page on which a signed-in person links this account. It is valid for a few minutes. */
  linkUrl(account: ChatAccount): Promise<string>;
  /** Reads a request from its run. Throws as `client.approvals.get` does. */
  request(workflowId: string, requestId: string): Promise<ApprovalDetails>;
  log(line: string): void;
}

/** A person of the gateway who answers with a chat account. */
export interface LinkedPerson {
  readonly id: string;
  /** Sends a decision in this person's name, as the gateway does for signed-in people. Throws its refusal. */
  decide(workflowId: string, decision: ChatDecision): Promise<Receipt>;
}

/** A decision whose reviewer is the person who sends it. A retry has the same `decisionId`. */
export type ChatDecision = Omit<Decision, 'reviewerId' | 'signature'> & { decisionId: string };

// The interfaces between web push and the gateway, so that neither adapter imports the other.

/** The part of a web push channel that receives the subscriptions of signed-in people from the gateway. */
export interface PushApp {
  /** The key by which browsers subscribe: base64url, 65 bytes. */
  readonly publicKey: string;
  /** The origin of the gateway in the links of messages. */
  readonly gatewayUrl: string;
  /**
   * Stores a subscription for 30 days, in place of one with the same endpoint, and of the oldest beyond ten of a
   * person. Throws a `ProblemError` (`arguments_invalid`) for a forbidden endpoint, and for an invalid key.
   */
  subscribe(person: SubscribedPerson, subscription: BrowserSubscription, records: Records): Promise<void>;
  /** Removes a subscription of a person. Returns true if the person had one with this endpoint. */
  unsubscribe(person: Pick<SubscribedPerson, 'id'>, endpoint: string, records: Records): Promise<boolean>;
}

/** The person of a subscription, as the gateway knows them. */
export interface SubscribedPerson {
  id: string;
  /** The person's groups, without the prefix `group:`. */
  groups: readonly string[];
}

/** A subscription, as created by a browser. */
export interface BrowserSubscription {
  /** The URL to which messages for this browser are posted. */
  endpoint: string;
  /** In base64url: the browser's public key (65 bytes), and a secret shared with the sender (16 bytes). */
  keys: { p256dh: string; auth: string };
}
