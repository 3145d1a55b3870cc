import type { AttributeNames } from '../base/attribute-names.ts';
import type { ChannelRoutes } from '../people/channel-routes.ts';
import type { Policy } from './policy.ts';
import type { TakenFiles } from '../base/user-files.ts';
import type { RuleLines } from './rule-place.ts';
import type { SizeLimits } from '../base/size-limits.ts';
import type { ToolDefinition } from '../base/tool-call.ts';

/** How long and how often one model call is tried. Times in milliseconds, of at most 24 hours. */
export interface ModelCallLimits {
  /** The longest time of one attempt. Default 10 minutes. */
  timeoutMs?: number;
  /** How soon a killed worker is noticed. Default 30 seconds. */
  heartbeatTimeoutMs?: number;
  /** The most attempts, default 10. Between two, the run waits as long as the model's answer demands, if it does. */
  maxAttempts?: number;
}

/** One agent, as a run records it. */
export interface AgentConfig {
  agent: string;
  instructions: string;
  tools: ToolDefinition[];
  maxTurns: number;
  modelCall?: ModelCallLimits;
  /** The files that the agent takes from its user. Absent: none. */
  files?: TakenFiles;
  /** The agent's policy and `RunInput.policy`, merged. */
  run?: Policy;
  /** SHA-256 of the canonical JSON of all policies that bind this agent. */
  policyDigest: string;
}

/**
 * What a run needs to know about its agent, recorded once, at its start. A deploy or an edited file changes nothing
 * of the policy, and changes a tool only when a call of that tool passes the gate again.
 */
export interface RunConfig extends AgentConfig {
  /** The operator's policy, as the worker loaded it; the starter of a run cannot set it. */
  ceiling?: Policy;
  /** Absent: the ceiling was not read from a file. */
  ceilingLines?: RuleLines;
  /** For a nested run: the policies of the runs above, the root's first, except those equal to the ceiling. */
  parents?: Policy[];
  /** The other agents that this run may be handed to, directly or through one another. */
  handoffs?: AgentConfig[];
  /** The engine that rules on the calls of the run. */
  engine: number;
  /** The secret behind the salts of the journal's leaves: 32 random bytes in hex. No export contains it. */
  auditSalt: string;
  continueAsNewAfter: ContinueAsNewAfter;
  /** Names of the inbox's search attributes, if they are not the defaults. */
  attributes?: AttributeNames;
  /** True: the run is a session, whose user may stop a turn. Absent: it is no session. */
  userMayStop?: true;
  /** Which channels carry the run's requests. Absent: the run has no channels. */
  routes?: ChannelRoutes;
  /** Size limits if large payloads are stored by reference; absent: the limits of Temporal's own payloads. */
  sizeLimits?: SizeLimits;
}

/** When a run continues as new. It also does so when Temporal suggests it. */
export interface ContinueAsNewAfter {
  /** History events of one execution. Default 8,000. */
  historyEvents: number;
  /** Updates accepted by one execution; the server refuses more than 2,000. Default 1,500. */
  updates: number;
}
