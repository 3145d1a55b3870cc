import type { Severity } from '../base/tool-call.ts';

/** A rule under `assess:` of a policy, in its normal form. */
export interface AssessRule {
  /** Default: `LAYER.assess#N`, N from 1. */
  id?: string;
  /** `name` or `name:args`, as in a policy rule. */
  pattern: string;
  /** Globs on single arguments. */
  args?: Record<string, string>;
  /** The severity of the calls that it matches. */
  severity: Severity;
  /** Default: a text that names the rule. */
  reason?: string;
  /** Names of the arguments whose values are the affected resources. */
  affected?: string[];
  /** Default true. */
  reversible?: boolean;
  /** A recommendation for reviewers. */
  recommend?: string;
  /** Default: true from severity `medium` on. */
  requiresApproval?: boolean;
}
