import type { AttributeNames } from '../base/attribute-names.ts';
import type { Policy } from './policy.ts';
import type { SizeLimits } from '../base/size-limits.ts';
import type { ToolDefinition } from '../base/tool-call.ts';

/** One agent as a run recorded it. */
export interface AgentConfig {
  agent: string;
  instructions: string;
  tools: ToolDefinition[];
  maxTurns: number;
  /** The agent's policy and `RunInput.policy`, read as one. */
  run?: Policy;
  /** SHA-256 of the canonical JSON of all policies that bind this agent. */
  policyDigest: string;
}

/**
 * Everything a run needs to know about its agent, recorded in history once, at the start of the run:
 * a deploy or an edited file does not change its policy (I12), and its tools only where a call of one passes the gate anew (I8).
 */
export interface RunConfig extends AgentConfig {
  /** The operator's policy, as the worker had it; the starter of a run cannot name it (I1, I10). */
  ceiling?: Policy;
  /** Of a nested run: what binds the runs above it, the root's first, and is not this ceiling. */
  parents?: Policy[];
  /** The other agents that this run may be handed over to, directly or through one another. */
  handoffs?: AgentConfig[];
  rollOver: RollOver;
  /** The names of the inbox's search attributes, where they are not the default ones. */
  attributes?: AttributeNames;
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
