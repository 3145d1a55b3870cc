import type { Risk } from './tool-call.ts';

export const actions = ['allow', 'ask', 'deny'] as const;
export type Action = (typeof actions)[number];

export interface Rule {
  /** As written, else `LAYER#N` where the policy is compiled. */
  id?: string;
  /** `name` or `name:args`, a glob (policy section 2). */
  pattern: string;
  action: Action;
  reason?: string;
}

/** The normal form of a policy: what `parsePolicy` returns and what a run records at its start (I12). */
export interface Policy {
  version: 1;
  rules: Rule[];
  /** Unwritten keys fall to `standardRiskDefaults`. */
  riskDefaults: Partial<Record<Exclude<Risk, 'unknown'>, Action>>;
  approval: {
    /** How long a request waits, in milliseconds; null is `never`. Default 5 minutes. */
    timeoutMs?: number | null;
    /** Ceiling only: the longest time-out allowed, in milliseconds; null permits `never`. Default 24 hours. */
    maxTimeoutMs?: number | null;
    /** Open requests of one run at a time, 1 to 50. Default 10. */
    maxPending?: number;
  };
}

/** The policies that answer for a run. A layer without a policy does not answer (policy section 3). */
export interface PolicyLayers {
  ceiling?: Policy;
  run?: Policy;
}

export const standardRiskDefaults = { read_only: 'allow', write: 'ask', destructive: 'deny' } as const satisfies Record<
  Exclude<Risk, 'unknown'>,
  Action
>;

export const defaultTimeoutMs = 5 * 60_000;
export const defaultMaxTimeoutMs = 24 * 3_600_000;
export const defaultMaxPending = 10;
/** One search attribute holds the ids of all open requests, and holds at most 2 KB (design section 5). */
export const maxPendingBound = 50;
