import type { Channel, ChatApp, PushApp } from 'countersign/channels';
import type { CountersignClient, Signer, Decision } from 'countersign/client';
import type { Policy } from 'countersign/policy';
import type { Authenticator, Principal } from './identity/principal.ts';
import type { IdentityService } from './identity/identity-service.ts';
import type { GatewayLimits, SenderAddress } from './server/limits.ts';
import type { Site } from './site.ts';

/** What a worker declares: its agents, the operator's policy, and the lines of its rules if a file has it. */
export interface KnownWorker {
  agents: readonly string[];
  policy?: Policy;
  ruleLines?: { file: string; lines: number[] };
}

export interface GatewayContext {
  readonly client: CountersignClient;
  readonly authenticator: Authenticator;
  readonly site: Site;
  /** Absent: every sender is the user who started the gateway, or another authenticator decides. */
  readonly identity?: IdentityService;
  /** Signs the decisions of authenticated reviewers. Absent: their names are claimed, not verified. */
  readonly signer?: Signer;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly slack?: ChatApp;
  readonly push?: PushApp;
  /** How long the inbox delays an approval before it sends it, in milliseconds. */
  readonly undoMs: number;
  /** How long open requests of a chat wait for other calls of their turn, in milliseconds. */
  readonly chatWaitMs: number;
  /** Temporal's UI, such as `http://127.0.0.1:8233`. */
  readonly temporalUi?: string;
  /** What the worker beside the gateway declares; undefined if it is not known. */
  readonly worker: () => KnownWorker | undefined;
  readonly limits: Required<GatewayLimits>;
  readonly senderAddress: SenderAddress;
  /** One line for the operator. Never a secret, never an argument of a call. */
  readonly log: (line: string) => void;
  /** Aborts when the gateway stops: streams end then. */
  readonly stopping: AbortSignal;
}

export interface HttpEnv {
  Variables: {
    /** Undefined: an anonymous sender. A route that needs a principal is never reached without one. */
    principal: Principal | undefined;
    /** Where a browser signs in; undefined: nowhere. */
    loginUrl: string | undefined;
    /** The answer of a channel's receiver, if the channel has authenticated it. */
    provenAnswer: Decision | undefined;
  };
}
