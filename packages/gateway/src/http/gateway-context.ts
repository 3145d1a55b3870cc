import type { Channel, ChatApp, PushApp } from 'countersign/channels';
import type { CountersignClient, Signer, Decision } from 'countersign/client';
import type { Policy } from 'countersign/policy';
import type { Authenticator, Principal } from './identity/principal.ts';
import type { IdentityService } from './identity/identity-service.ts';
import type { GatewayLimits, SenderAddress } from './server/limits.ts';
import type { Site } from './site.ts';

/** The agents and the operator's policy that a worker declares. A policy from a file has the lines of its rules. */
export interface KnownWorker {
  agents: readonly string[];
  policy?: Policy;
  ruleLines?: { file: string; lines: number[] };
}

export interface GatewayContext {
  readonly client: CountersignClient;
  readonly authenticator: Authenticator;
  readonly site: Site;
  /** Absent: the gateway has no identity file, so `authenticator` alone decides who a sender is. */
  readonly identity?: IdentityService;
  /** Signs the decisions of authenticated reviewers. Absent: their names are claimed, not verified. */
  readonly signer?: Signer;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly slack?: ChatApp;
  readonly push?: PushApp;
  readonly undoMs: number;
  readonly chatWaitMs: number;
  /** The address of Temporal's UI, such as `http://127.0.0.1:8233`. */
  readonly temporalUi?: string;
  /** Returns the declarations of the gateway's own worker, as in `countersign dev`; undefined without a worker. */
  readonly worker: () => KnownWorker | undefined;
  readonly limits: Required<GatewayLimits>;
  readonly senderAddress: SenderAddress;
  /** Writes one line for the operator, which never contains a secret or an argument of a call. */
  readonly log: (line: string) => void;
  /** Aborts when the gateway stops. Then all streams end. */
  readonly stopping: AbortSignal;
}

export interface HttpEnv {
  Variables: {
    /** The sender; undefined without a credential. `defineRoute` lets only senders with permission reach a handler. */
    principal: Principal | undefined;
    /** The page on which a browser signs in; undefined if there is no such page. */
    loginUrl: string | undefined;
    /** The answer of a channel's receiver; undefined unless the channel has verified its signature. */
    provenAnswer: Decision | undefined;
  };
}
