import type { AssessRule } from '../assess/rule.ts';
import type { Directory } from '../people/directory.ts';
import type { Action } from './action.ts';
import type { Mode } from './modes.ts';
import type { Risk } from '../base/tool-call.ts';

/** What a reviewer's "always" may leave behind, from narrow to wide: this call again, matching calls, the tool. */
export const grantKinds = ['call', 'arguments', 'tool'] as const;
export type GrantKind = (typeof grantKinds)[number];
/** The widest grant that a rule admits; false admits none. */
export type Always = false | GrantKind;

export interface Rule {
  /** As written, else `LAYER#N` or `LAYER.AGENT#N` where the policy is compiled. */
  id?: string;
  /** The agent whose block (`agents.NAME.rules`) holds the rule: it counts for calls of that agent only. */
  agent?: string;
  /** `name` or `name:args`, a glob (policy section 2). */
  pattern: string;
  /** Globs on single arguments, by field name. */
  args?: Record<string, string>;
  /** A condition in CEL. All three must match. */
  when?: string;
  action: Action;
  reason?: string;
  ask?: AskSettings;
}

/** How a rule asks: whom, how long, and what happens meanwhile. Durations in milliseconds. */
export interface AskSettings {
  /** Names, or `group:NAME`. */
  reviewers?: string[];
  /** Approvals needed. Default 1. */
  quorum?: number;
  /** Each of these must approve. */
  oneOfEach?: string[];
  /** One denial settles. Default true. */
  veto?: boolean;
  /** Only decisions with a signature or an authenticated edge count. Default false. */
  verified?: boolean;
  /** Whoever started the run may approve. Default false. */
  allowSelf?: boolean;
  /** Null is `never`. Default: the policy's. */
  timeoutMs?: number | null;
  /** Before the deadline. */
  warnBeforeMs?: number;
  /** Repeats. */
  remindMs?: number;
  /** Adds reviewers, that long after the request was opened. */
  escalate?: { afterMs: number; to: string[] }[];
  onTimeout?: 'deny' | 'allow';
  /** Default `tool`; `call` for destructive tools and shell subjects. */
  always?: Always;
}

/** Limits and ways of the whole policy. Durations in milliseconds. */
export interface ApprovalSettings {
  /** How long a request waits; null is `never`. Default 5 minutes. */
  timeoutMs?: number | null;
  /** Ceiling only: the longest time-out allowed; null permits `never`. Default 24 hours. */
  maxTimeoutMs?: number | null;
  /** What an expired request does, where severity and ceiling permit it. Default deny. */
  onTimeout?: 'deny' | 'allow';
  /** Open requests of one run at a time, 1 to 50. Default 10. */
  maxPending?: number;
  /** Reviewers' denials of one tool, after which it is denied for good. Default 3. */
  maxRetriesAfterDeny?: number;
  /** Irreversible calls of one run. Default: no limit. */
  maxIrreversiblePerRun?: number;
  /** Whether reviewers see arguments. Default true. */
  includeArguments?: boolean;
  /** Whether what they see is redacted. Default true. */
  redact?: boolean;
  /** Whether the calls of one turn are asked about together or one after another. Default parallel. */
  batch?: 'parallel' | 'sequential';
  /** What the model gets for a denied call. Default result. */
  deniedAs?: 'result' | 'error';
}

/** The normal form of a policy: what `parsePolicy` returns and what a run records at its start (I12). */
export interface Policy {
  version: 1;
  /** Default `default`. */
  mode?: Mode;
  /** Those of the policy's `rules`, then those of each agent's block. */
  rules: Rule[];
  /** Unwritten keys fall to `standardRiskDefaults`. */
  riskDefaults: Partial<Record<Exclude<Risk, 'unknown'>, Action>>;
  approval: ApprovalSettings;
  /** Rules that say how bad a call would be. */
  assess?: AssessRule[];
  /** Own patterns to redact, in RE2 syntax. */
  redact?: { patterns: { name: string; pattern: string }[] };
  /** Who belongs to the groups that this policy's rules name. */
  directory?: Directory;
  /** Ceiling only: the keys with which messages may be signed, by id. `publicKey`: Ed25519, 32 bytes in base64. */
  reviewerKeys?: Record<string, { publicKey: string; operator: boolean }>;
}

/** The policies that answer for a run. A layer without a policy does not answer (policy section 3). */
export interface PolicyLayers {
  ceiling?: Policy;
  /** Of a nested agent: what binds the agents above it besides the ceiling, the root's first. Each is a further ceiling. */
  parents?: readonly Policy[];
  run?: Policy;
}

export const standardRiskDefaults = { read_only: 'allow', write: 'ask', destructive: 'deny' } as const satisfies Record<
  Exclude<Risk, 'unknown'>,
  Action
>;

export const defaultTimeoutMs = 5 * 60_000;
export const defaultMaxTimeoutMs = 24 * 3_600_000;
export const defaultMaxPending = 10;
export const defaultMaxRetriesAfterDeny = 3;
/** One search attribute holds the ids of all open requests, and holds at most 2 KB (design section 5). */
export const maxPendingBound = 50;
