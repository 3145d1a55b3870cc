import type { OptionNames } from '../text/check-call-options.ts';
import type { Advisor, Assessor } from '../agents/advisor.ts';
import type { ChannelOptions } from '../channels/channel-set.ts';
import type { Agent, Tool } from '../agents/definitions.ts';
import type { AttributeNameOptions } from '../core/base/attribute-names.ts';
import type { GatedActivities } from '../core/policy/gated-activity.ts';
import type { ContinueAsNewAfter } from '../core/policy/run-config.ts';
import type { LargePayloads } from '../payload-folder/large-payloads.ts';

/** The agents, activities and policy of `CountersignPlugin` and `createWorker`. Every member is optional. */
export interface PluginOptions extends ChannelOptions {
  /** Default: none. Agents that these call or hand over to are included automatically. */
  agents?: readonly Agent[];
  /** Tools without an agent. */
  tools?: readonly Tool[];
  /** Custom activities that run only behind a gate (docs/gate.md), by name. */
  gated?: GatedActivities;
  /** The operator's ceiling: a policy document, its text, or the path of a `.yaml`, `.yml` or `.json` file. */
  policy?: string | object;
  /** Custom assessors, beside the built-in ones and the `assess:` rules of the policy. They assess agents' calls. */
  assessors?: readonly Assessor[];
  /** Functions and models that the `advisor` of a policy names, by name (docs/advisors.md). Default: none. */
  advisors?: Readonly<Record<string, Advisor>>;
  /** The workflow types, besides `agentRun`, whose gated activities may run here. `gated` needs them. Default: none. */
  workflowTypes?: readonly string[];
  /** When executions continue as new; recorded at the start. Default: 8,000 history events or 1,500 updates. */
  continueAsNewAfter?: Partial<ContinueAsNewAfter>;
  /**
   * A folder for payloads that are too large for Temporal's server. All workers of the task queue and all clients of
   * its runs share it (docs/operations.md). Default: `COUNTERSIGN_PAYLOAD_FOLDER`; `false` ignores that variable.
   */
  largePayloads?: LargePayloads | false;
  /**
   * The names of the inbox's search attributes; recorded in each run at its start. `tags: false` omits ApprovalTags.
   * Default: `COUNTERSIGN_ATTRIBUTES`, else ApprovalIds, ApprovalTags and ApprovalDue.
   */
  attributes?: AttributeNameOptions;
  /**
   * Removes comments, the text of sources and their absolute paths from the workflow bundle, which every worker holds
   * in memory. Default: false; `createWorker` and `bundleWorkflows` do it if they bundle `agentRun` alone.
   */
  leanBundle?: boolean;
}

/** The names above, all of them: Temporal's worker does not know these options. */
export const pluginOptionNames = Object.keys({
  agents: true,
  tools: true,
  gated: true,
  policy: true,
  assessors: true,
  advisors: true,
  workflowTypes: true,
  continueAsNewAfter: true,
  largePayloads: true,
  attributes: true,
  leanBundle: true,
  channels: true,
  routes: true,
  quietHours: true,
  quietHoursOf: true,
  batchMs: true,
} satisfies OptionNames<PluginOptions>) as readonly (keyof PluginOptions)[];

/** The options above among those of `createWorker`. */
export function pluginOptionsOf(options: PluginOptions): PluginOptions {
  return Object.fromEntries(pluginOptionNames.flatMap((name) => (name in options ? [[name, options[name]]] : [])));
}
