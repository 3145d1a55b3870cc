import type { AttributeNames } from '../base/attribute-names.ts';
import type { GatedDefinition } from './gated-activity.ts';
import type { Mode } from './modes.ts';
import type { Policy } from './policy.ts';
import type { RollOver } from './run-config.ts';
import type { JsonObject } from '../base/tool-call.ts';

/** What a workflow of one's own asks its worker for, before its first gated call. */
export interface GateWish {
  /** Under whose name the workflow's calls are ruled, as an agent's are. */
  agent: string;
  /** A policy document; it can only tighten the operator's ceiling (I10). */
  policy?: JsonObject;
  mode?: Mode;
  /** The activities that the workflow declares gated. */
  gated: GatedDefinition[];
}

/**
 * The policies and declarations under which a workflow of one's own works, recorded in its history once: a deploy or an
 * edited file changes neither (I12).
 */
export interface GateConfig {
  agent: string;
  /** The operator's policy, as the worker had it (I10). */
  ceiling?: Policy;
  run?: Policy;
  /** SHA-256 of both policies' canonical JSON. */
  policyDigest: string;
  rollOver: RollOver;
  gated: GatedDefinition[];
  /** The names of the inbox's search attributes, where they are not the default ones. */
  attributes?: AttributeNames;
}
