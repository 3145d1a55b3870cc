/** The interfaces between adapters and the gateway, which import only these and not each other. */
import type { ApprovalDetails, Decision, Receipt } from '../contract.ts';
import type { Records } from '../client/server/records.ts';

/** The part of a chat channel through which the gateway receives answers from the chat service. */
export interface ChatApp {
  /**
   * Responds to a request that the chat service sends to the gateway. The gateway does not authenticate it, so the app
   * verifies the service's signature. Absent: the service sends no requests to the gateway.
   */
  receive?(request: ChatRequest, gateway: ChatGateway): Promise<Response>;
  /** Opens a connection over which the chat service sends answers. Absent: the app uses no connection. */
  connect?(gateway: ChatGateway): ChatConnection;
  /** Waits until all received answers are processed. Some are still in progress after the response to the service. */
  drain(): Promise<void>;
}

/** A connection to a chat service that reconnects until it is closed. */
export interface ChatConnection {
  /** Closes the connection: no further answers arrive. */
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
  /** The account's display name at the service, which proves nothing about the person. */
  name: string;
}

/** What the gateway offers to a chat app. */
export interface ChatGateway {
  /** Returns the person to whom the account is linked now; undefined if there is none. */
  personOf(account: ChatAccount): Promise<LinkedPerson | undefined>;
  /** Returns the URL of a page on which a signed-in person links this account. The URL is valid for a few minutes. */
  linkUrl(account: ChatAccount): Promise<string>;
  /** Reads a request from its run. Throws as `client.approvals.get` does. */
  request(workflowId: string, requestId: string): Promise<ApprovalDetails>;
  log(line: string): void;
}

/** A person known to the gateway who answers with a linked chat account. */
export interface LinkedPerson {
  readonly id: string;
  /** Sends a decision with this person as its reviewer, and throws if the gateway refuses it. */
  decide(workflowId: string, decision: ChatDecision): Promise<Receipt>;
}

/** A decision of a chat account; the gateway adds the reviewer. A retry has the same `decisionId`. */
export type ChatDecision = Omit<Decision, 'reviewerId' | 'signature'> & { decisionId: string };

/** The part of a web push channel through which the gateway stores the subscriptions of signed-in people. */
export interface PushApp {
  /** The public key with which browsers subscribe: 65 bytes in base64url. */
  readonly publicKey: string;
  /** The gateway's origin, to which the links in messages lead. */
  readonly gatewayUrl: string;
  /**
   * Stores a person's subscription for 30 days. It replaces one with the same endpoint, or the oldest if there are
   * ten. Throws a `ProblemError` (`arguments_invalid`) for a forbidden endpoint or an invalid key.
   */
  subscribe(person: SubscribedPerson, subscription: BrowserSubscription, records: Records): Promise<void>;
  /** Removes a person's subscription. Returns false if the person has none with this endpoint. */
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
  /** The browser's public key (65 bytes), and a secret that it shares with the sender (16 bytes), in base64url. */
  keys: { p256dh: string; auth: string };
}
