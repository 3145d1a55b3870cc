import type { AttributeNames } from '../base/attribute-names.ts';
import type { GatedDefinition } from './gated-activity.ts';
import type { Mode } from './modes.ts';
import type { ChannelRoutes } from '../people/channel-routes.ts';
import type { Policy } from './policy.ts';
import type { RuleLines } from './rule-place.ts';
import type { ContinueAsNewAfter } from './run-config.ts';
import type { JsonObject } from '../base/tool-call.ts';

/** What a user's workflow sends to a worker to get the config of its gate, before its first gated call. */
export interface RequestedGateConfig {
  /** The agent name under which the workflow's calls are ruled on. */
  agent: string;
  /** A policy document; it can only tighten the operator's ceiling (I10). */
  policy?: JsonObject;
  mode?: Mode;
  /** The activities that the workflow declares gated. `written`: the names of the options in its declaration. */
  gated: (GatedDefinition & { written?: string[] })[];
  /** The names of the options with which the gate was made. */
  written?: string[] | undefined;
}

/** Policies and declarations of a user's workflow, recorded once: no deploy and no edited file changes them (I12). */
export interface GateConfig {
  agent: string;
  /** The operator's policy, as the worker loaded it (I10). */
  ceiling?: Policy;
  /** Absent: the ceiling was not read from a file. */
  ceilingLines?: RuleLines;
  run?: Policy;
  /** SHA-256 of the canonical JSON of both policies. */
  policyDigest: string;
  /** The engine that rules on the calls of the workflow. */
  engine: number;
  /** The secret behind the salts of the journal's leaves: 32 random bytes in hex. No export contains it. */
  auditSalt: string;
  continueAsNewAfter: ContinueAsNewAfter;
  gated: GatedDefinition[];
  /** Names of the inbox's search attributes, if they are not the defaults. */
  attributes?: AttributeNames;
  /** Which channels carry the workflow's requests. Absent: the workflow has no channels. */
  routes?: ChannelRoutes;
}
