import type { Policy } from './policy.ts';
import type { SizeLimits } from './size-limits.ts';
import type { ToolDefinition } from './tool-call.ts';

/**
 * Everything a run needs to know about its agent, recorded in history once, at the start of the run:
 * a deploy or an edited file changes neither its tools nor its policy (I12).
 */
export interface RunConfig {
  agent: string;
  instructions: string;
  tools: ToolDefinition[];
  maxTurns: number;
  /** The operator's policy, as the worker had it; the starter of a run cannot name it (I1, I10). */
  ceiling?: Policy;
  /** The agent's policy and `RunInput.policy`, read as one. */
  run?: Policy;
  /** SHA-256 of both policies' canonical JSON. */
  policyDigest: string;
  rollOver: RollOver;
  /** Where large payloads travel by reference; absent: the limits of Temporal's own payloads. */
  sizeLimits?: SizeLimits;
}

/** When the run continues as new of its own accord; Temporal's own hint counts besides. */
export interface RollOver {
  /** History events of one link. Default 8,000. */
  historyEvents: number;
  /** Updates accepted by one link; the server refuses more than 2,000. Default 1,500. */
  updates: number;
}
