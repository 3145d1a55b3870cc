/** The interfaces between chat services and the gateway, so that neither adapter imports the other. */
import type { ApprovalDetails, Decision, Receipt } from '../contract.ts';
import type { Records } from '../client/server/records.ts';

/** The part of a chat channel that receives its users' answers. */
export interface ChatApp {
  /**
   * Answers a request of the chat service, passed on by a route of the gateway. The sender is unknown: the app verifies
   * the service's signature. Absent: the service sends nothing to the gateway's address.
   */
  receive?(request: ChatRequest, gateway: ChatGateway): Promise<Response>;
  /** Connects to the chat service, which sends answers over the connection. Absent: it does not. */
  connect?(gateway: ChatGateway): ChatConnection;
  /** Waits for the answers in flight: some take longer than the service waits. */
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
  /** Its display name at the service. It proves nothing. */
  name: string;
}

/** The gateway, for a chat app. */
export interface ChatGateway {
  /** The person who has linked this account, as of now; undefined without a link. */
  personOf(account: ChatAccount): Promise<LinkedPerson | undefined>;
  /** The page on which a signed-in person links this account. It is valid for a few minutes. */
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

/** A decision whose reviewer is its sender. `decisionId` is the same for a retry. */
export type ChatDecision = Omit<Decision, 'reviewerId' | 'signature'> & { decisionId: string };

// The interfaces between web push and the gateway, so that neither adapter imports the other.

/** The part of a web push channel that receives subscriptions: the gateway passes on those of signed-in people. */
export interface PushApp {
  /** The key by which browsers subscribe: base64url, 65 bytes. */
  readonly publicKey: string;
  /** The origin of the gateway in the links of messages. */
  readonly gatewayUrl: string;
  /**
   * Stores a subscription of a person for 30 days; it replaces one of the same endpoint. A person has at most ten: the
   * oldest is removed. Throws a `ProblemError` (`arguments_invalid`) for a forbidden endpoint, and for an invalid key.
   */
  subscribe(person: SubscribedPerson, subscription: BrowserSubscription, records: Records): Promise<void>;
  /** True if the person had a subscription of this endpoint. */
  unsubscribe(person: Pick<SubscribedPerson, 'id'>, endpoint: string, records: Records): Promise<boolean>;
}

/** The person of a subscription, as the gateway knows them. */
export interface SubscribedPerson {
  id: string;
  /** Without `group:`. */
  groups: readonly string[];
}

/** A subscription, as created by a browser. */
export interface BrowserSubscription {
  /** The URL to which messages for this browser are posted. */
  endpoint: string;
  /** base64url: the browser's public key (65 bytes), and a secret that it shares with the sender (16 bytes). */
  keys: { p256dh: string; auth: string };
}
