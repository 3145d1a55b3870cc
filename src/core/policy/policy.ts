import type { AssessRule } from '../assess/assessment.ts';
import type { Directory } from '../people/directory.ts';
import type { Revoked } from '../people/revoked.ts';
import type { SensitiveKind } from '../redact/kinds.ts';
import type { Action, Mode } from './modes.ts';
import type { Risk, Json } from '../base/tool-call.ts';
import { jsonDigest } from '../base/digest.ts';

export const grantKinds = ['call', 'arguments', 'tool'] as const;
/** What a reviewer's "always" covers, from narrow to wide: the same call, matching calls, any call of the tool. */
export type GrantKind = (typeof grantKinds)[number];
/** The widest grant that a rule admits; false admits none. */
export type Always = false | GrantKind;

/** A rule of a policy, in its normal form. The last rule that matches a call decides. */
export interface Rule {
  /** The id as written; a compiled policy uses `LAYER#N` or `LAYER.AGENT#N` if there is none. */
  id?: string;
  /** The agent whose block (`agents.NAME.rules`) has the rule. It applies only to calls of this agent. */
  agent?: string;
  /** A glob: `name` or `name:args`. See docs/policy-reference.md. */
  pattern: string;
  /** Globs on single arguments, by argument name. */
  args?: Record<string, string>;
  /** A condition in CEL. The rule matches only if pattern, globs and condition all match. */
  when?: string;
  action: Action;
  /** Shown to reviewers and, with a denial, to the model. */
  reason?: string;
  /** How the rule asks. Present only for `ask`. */
  ask?: AskSettings;
}

/** A function or a model of the worker that is consulted about calls that a rule asks about (docs/advisors.md). */
export interface AdvisorSettings {
  name: string;
  /** True: the advisor may approve calls, but never one that is destructive or cannot be undone. Default false. */
  mayApprove?: boolean;
  /** How long the advisor's answer may take, in milliseconds. Default 30 seconds. */
  timeoutMs?: number;
}

/** How a rule asks. Durations in milliseconds. */
export interface AskSettings {
  /** The people who may decide: names, or `group:NAME`. Default: those of `oneOfEach`, else anyone. */
  reviewers?: string[];
  /** Approvals needed. Default 1. */
  quorum?: number;
  /** Names, or `group:NAME`: one approval for each of these. */
  oneOfEach?: string[];
  /** True if one denial settles the request. Default true. */
  veto?: boolean;
  /** True if decisions must be signed, or come from a gateway that authenticates reviewers. Default false. */
  verified?: boolean;
  /** True if the person who started the run may approve. Default false. */
  allowSelf?: boolean;
  /** How long the request waits; null: for ever. Default: the policy's time-out. */
  timeoutMs?: number | null;
  /** Warns this long before the deadline. */
  warnBeforeMs?: number;
  /** Interval between reminders. */
  remindMs?: number;
  /** Adds the reviewers `to`, `afterMs` after the request was opened. */
  escalate?: { afterMs: number; to: string[] }[];
  /** The outcome at the deadline. Default: the policy's `onTimeout`. */
  onTimeout?: 'deny' | 'allow';
  /** What a message of the user does to an open request: `show` it on the card, or `withdraw` it. Default `show`. */
  whenUserWrites?: 'show' | 'withdraw';
  /** The widest grant that an approval may leave. Default `tool`, but `call` for destructive tools and shells. */
  always?: Always;
  /** Asked before reviewers; false: none. Default: the policy's advisor, which never approves for people a rule names. */
  advisor?: AdvisorSettings | false;
}

/** Names of arguments to show, by a glob on tool names. False: none, whatever tools and other policies say. */
export type Show = false | Readonly<Record<string, readonly string[]>>;

/** Settings of the whole policy. Durations in milliseconds. */
export interface ApprovalSettings {
  /** How long a request waits; null: for ever. Default 5 minutes. */
  timeoutMs?: number | null;
  /** Ceiling only: the longest time-out allowed; null permits waiting for ever. Default 24 hours. */
  maxTimeoutMs?: number | null;
  /** Ceiling only: the least time that lower policies leave between reminders and escalations. Default 1 minute. */
  minRemindMs?: number;
  /** The action when a request expires; `allow` applies only if severity and ceiling permit it. Default deny. */
  onTimeout?: 'deny' | 'allow';
  /** If no known reviewer could approve a request: `ask` opens it all the same, `deny` denies. Default ask. */
  onImpossible?: 'ask' | 'deny';
  /** Maximum number of open requests of one run at a time, 1 to 50. Default 10. */
  maxPending?: number;
  /** After this many denials by reviewers, further calls of the tool are denied at once. Default 3. */
  maxRetriesAfterDeny?: number;
  /**
   * How long a denial counts for `maxRetriesAfterDeny` and answers identical calls: until the model receives a
   * message of a session's user, or for the whole run. Default message.
   */
  denialsHoldFor?: 'message' | 'run';
  /** Maximum number of irreversible calls of one run. Default: no limit. */
  maxIrreversiblePerRun?: number;
  /** True if reviewers see arguments. Default true. */
  includeArguments?: boolean;
  /** The arguments that lists and Temporal's UI show, by tool. Those of policies and tools add up; false: none. */
  show?: Show;
  /** True if reviewers see redacted arguments. Default true. */
  redact?: boolean;
  /** How the calls of one turn are asked about: all at once, or one after another. Default parallel. */
  batch?: 'parallel' | 'sequential';
  /** False: no earlier result answers a call, whatever its tool declares as `cache`. Default true. */
  cachedResults?: boolean;
  /** How the model gets a denial: as a result, or as an error. Default result. */
  deniedAs?: 'result' | 'error';
}

export const runMeasures = ['turns', 'calls', 'tokens', 'timeMs', 'cost'] as const;
/** What a limit can measure: model calls, tool calls, tokens, milliseconds since the start, or cost by `prices`. */
export type RunMeasure = (typeof runMeasures)[number];

/** The amounts of a limit. At `ask`, a person decides whether the run goes on for as much again. At `end`, it ends. */
export interface RunLimit {
  ask?: number;
  end?: number;
}

/** The limits of a whole run. A measure that is absent is not limited. */
export type RunLimits = Partial<Record<RunMeasure, RunLimit>>;

/** What a million tokens of a model cost. */
export interface ModelPrice {
  input: number;
  /** The price of input tokens that the provider read from its cache. Default: `input`. */
  cachedInput?: number;
  output: number;
}

/** Prices of models, by the ids that agents' models have, in one currency. */
export interface Prices {
  currency: string;
  models: Record<string, ModelPrice>;
}

/** What a policy wants redacted, beside or instead of the built-in kinds. */
export interface RedactSettings {
  /** Kinds of the built-in patterns. Default: all. */
  kinds?: SensitiveKind[];
  /** Patterns in RE2 syntax. `name` makes the placeholder: `TICKET` `[TICKET · 488c]`, `ACME_KEY` `[ACME_KEY]`. */
  patterns: { name: string; pattern: string }[];
  /** Arguments to redact although their names say what a call does, such as `command`. */
  also?: string[];
}

/** The normal form of a policy: what `parsePolicy` returns, and what a run records at its start. */
export interface Policy {
  version: 1;
  /** The mode. Default `default`. */
  mode?: Mode;
  /** The rules of the policy's `rules`, then those of each agent's block. */
  rules: Rule[];
  /** Defaults: `read_only` allow, `write` ask, `destructive` deny. */
  riskDefaults: Partial<Record<Exclude<Risk, 'unknown'>, Action>>;
  approval: ApprovalSettings;
  /** The limits of an agent run. The smallest amounts of all layers count. */
  limits?: RunLimits;
  /** Ceiling only: what models cost. */
  prices?: Prices;
  /** Rules that assess calls. See docs/assessment.md. */
  assess?: AssessRule[];
  /** Says which values of arguments reviewers see as placeholders. See docs/policy-reference.md. */
  redact?: RedactSettings;
  /** The members of the groups that this policy's rules name. */
  directory?: Directory;
  /** The advisor for the calls that this policy asks about, unless a rule sets another one. */
  advisor?: AdvisorSettings;
  /** Ceiling only: keys that sign messages, by id. */
  reviewerKeys?: Record<string, ReviewerKeyEntry>;
  /** Ceiling only: revoked keys and people, also for runs that have started. */
  revoked?: Revoked;
}

/** A key of the operator's policy with which messages are signed. */
export interface ReviewerKeyEntry {
  /** Ed25519, 32 bytes in base64. */
  publicKey: string;
  /** True if the key may also sign policy changes. */
  operator: boolean;
  /** The people a gateway signs for: names, `group:NAME`, or `*` for all. Absent: the key is a person's. */
  signsFor?: readonly string[];
}

/** The policies that bind a run. A layer without a policy gives no answer. */
export interface PolicyLayers {
  /** The operator's policy. */
  ceiling?: Policy;
  /** For a nested run: further ceilings, which are the policies that bind the runs above, the root's first. */
  parents?: readonly Policy[];
  /** The policies of the agent and the run's input, merged by `mergeRunSide`. */
  run?: Policy;
}

export const standardRiskDefaults = { read_only: 'allow', write: 'ask', destructive: 'deny' } as const satisfies Record<
  Exclude<Risk, 'unknown'>,
  Action
>;

export const defaultTimeoutMs = 5 * 60_000;
export const defaultMaxTimeoutMs = 24 * 3_600_000;
export const defaultMinRemindMs = 60_000;
export const defaultMaxPending = 10;
export const defaultMaxRetriesAfterDeny = 3;
/** Maximum number of names in one list of `show`. */
export const maxShown = 20;
/** The greatest `maxPending`: one search attribute of at most 2 KB holds the ids of all open requests. */
export const maxPendingBound = 50;

/** Identifies the policies of a run: the digest of their canonical JSON. A layer without a policy is absent. */
export function policyDigest(layers: PolicyLayers): string {
  return jsonDigest(layers as unknown as Json);
}
