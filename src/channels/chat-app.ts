/** What a chat service and the gateway need of one another, so that neither adapter imports the other. */
import type { ApprovalDetails, Decision, Receipt } from '../contract.ts';

/** The part of a chat channel that receives its users' answers. */
export interface ChatApp {
  /**
   * Answers a request of the chat service, which a route of the gateway hands over. Anybody may have sent it: the app checks
   * the service's signature. Absent: the service sends nothing to the gateway's address.
   */
  receive?(request: ChatRequest, gateway: ChatGateway): Promise<Response>;
  /** Connects to the chat service, which sends what people answer over the connection. Absent: it does not. */
  connect?(gateway: ChatGateway): ChatConnection;
  /** Waits for the answers that are on their way: some take longer than the service waits. */
  drain(): Promise<void>;
}

/** A connection to a chat service that opens itself again until it is closed. */
export interface ChatConnection {
  /** Takes nothing any more. */
  close(): Promise<void>;
}

/** A request of a chat service, as it came. */
export interface ChatRequest {
  headers: Headers;
  body: Uint8Array;
}

/** An account of a chat service. */
export interface ChatAccount {
  team: string;
  user: string;
  /** How the service shows it to people. It proves nothing. */
  name: string;
}

/** The gateway, for a chat app. */
export interface ChatGateway {
  /** The person who has linked this account to themselves, as of now; undefined: nobody has. */
  personOf(account: ChatAccount): Promise<LinkedPerson | undefined>;
  /** The page on which a person who signs in links this account to themselves. It is valid for a few minutes. */
  linkUrl(account: ChatAccount): Promise<string>;
  /** Reads a request from its run. Throws as `client.approvals.get` does. */
  request(workflowId: string, requestId: string): Promise<ApprovalDetails>;
  log(line: string): void;
}

/** A person of the gateway who answers by a chat account. */
export interface LinkedPerson {
  readonly id: string;
  /** Sends a decision in this person's name, as the gateway does for people who are signed in. Throws its refusal. */
  decide(workflowId: string, decision: ChatDecision): Promise<Receipt>;
}

/** A decision whose reviewer is the person who sends it. `decisionId` is the same for a repetition. */
export type ChatDecision = Omit<Decision, 'reviewerId' | 'signature'> & { decisionId: string };
