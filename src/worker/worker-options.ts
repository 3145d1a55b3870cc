import type { LogLevel, Logger, WorkerOptions as TemporalWorkerOptions, WorkerPlugin } from '@temporalio/worker';
import type { OptionNames } from '../text/check-call-options.ts';
import type { Advisor, Assessor } from '../agents/advisor.ts';
import type { ChannelOptions } from '../channels/channel-set.ts';
import type { Agent, Tool } from '../agents/definitions.ts';
import type { AttributeNameOptions, AttributeNames } from '../core/base/attribute-names.ts';
import type { GatedActivities } from '../core/policy/gated-activity.ts';
import type { ContinueAsNewAfter } from '../core/policy/run-config.ts';
import type { LargePayloads } from '../payload-folder/large-payloads.ts';
import { checkOptions } from '../agents/check-options.ts';
import type { ServerOptions } from '../connection/connection-settings.ts';
import { type Services, missingSearchAttributes } from '../connection/search-attributes.ts';
import { grpcStatus, grpcStatusOf } from '../connection/server-error.ts';
import { ProblemError } from '../core/base/problem.ts';

/** The agents, activities and policy of `CountersignPlugin` and `createWorker`. Every member is optional. */
export interface PluginOptions extends ChannelOptions {
  /** The worker's agents. Agents that they call or hand over to are included automatically. Default: none. */
  agents?: readonly Agent[];
  /** Tools without an agent. */
  tools?: readonly Tool[];
  /** Activities of your own that run only after a gate has admitted the call (docs/gate.md), by name. */
  gated?: GatedActivities;
  /** The operator's ceiling: a policy document, its text, or the path of a `.yaml`, `.yml` or `.json` file. */
  policy?: string | object;
  /** Custom assessors, beside the built-in ones and the `assess:` rules of the policy. They assess agents' calls. */
  assessors?: readonly Assessor[];
  /** Functions and models that the `advisor` of a policy names, by name (docs/advisors.md). Default: none. */
  advisors?: Readonly<Record<string, Advisor>>;
  /** The workflow types, besides `agentRun`, whose gated activities may run here. `gated` needs them. Default: none. */
  workflowTypes?: readonly string[];
  /** When a run continues as new; a run keeps its value. Default: after 8,000 history events or 1,500 updates. */
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
   * Makes the workflow bundle smaller, because every worker has it in memory: removes comments, and from the source map
   * the text and absolute paths of the sources. Default: false; in `createWorker` without `workflowsPath`, true.
   */
  leanBundle?: boolean;
}

/** The names of all options in `PluginOptions`. Temporal's worker knows none of them. */
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

export function pluginOptionsOf(options: PluginOptions): PluginOptions {
  return Object.fromEntries(pluginOptionNames.flatMap((name) => (name in options ? [[name, options[name]]] : [])));
}

/** Options that reach Temporal's worker unchanged, such as `tuner`, `interceptors` and `workerDeploymentOptions`. */
type PassedOn = Partial<Omit<TemporalWorkerOptions, 'connection' | 'namespace' | 'plugins' | 'taskQueue'>>;

/**
 * The options of `createWorker`: the server, those of the plugin, and every option of Temporal's worker under its own
 * name. These defaults differ from Temporal's: `workflowsPath` is the workflow `agentRun` alone, `shutdownGraceTime` is
 * 10 seconds, `shutdownForceTime` is 10 seconds more, and what the plugin sets.
 */
export interface WorkerOptions extends ServerOptions, Omit<PluginOptions, 'channels'>, PassedOn {
  /** The channels by name, or the path of a channel file (docs/channels.md) with all their options. Default: none. */
  channels?: PluginOptions['channels'] | string;
  /** The task queue. Default `countersign`. */
  taskQueue?: string;
  /** Other plugins of Temporal's, such as an integration of an agent framework. */
  plugins?: readonly WorkerPlugin[];
  /** The least level of the SDK's log lines. The first worker of a process sets it for all. Default `WARN`. */
  logLevel?: LogLevel;
  /** Receives all log lines in place of standard error. The first worker of a process sets it for all. */
  logger?: Logger;
}

/** The options that `createWorker` does not pass on to Temporal's worker as they are. */
export const ownOptionNames: readonly string[] = [
  ...pluginOptionNames,
  'address',
  'namespace',
  'taskQueue',
  'plugins',
  'logLevel',
  'logger',
  'shutdownForceTime',
];

const passedOnNames = Object.keys({
  identity: true,
  buildId: true,
  useVersioning: true,
  workerDeploymentOptions: true,
  activities: true,
  patchActivationCallback: true,
  nexusServices: true,
  workflowsPath: true,
  workflowBundle: true,
  shutdownGraceTime: true,
  shutdownForceTime: true,
  dataConverter: true,
  tuner: true,
  maxConcurrentActivityTaskExecutions: true,
  maxConcurrentLocalActivityExecutions: true,
  maxConcurrentNexusTaskExecutions: true,
  enableNonLocalActivities: true,
  disablePayloadErrorLimit: true,
  maxActivitiesPerSecond: true,
  maxTaskQueueActivitiesPerSecond: true,
  maxEagerActivityReservationsPerWorkflowTask: true,
  maxConcurrentWorkflowTaskExecutions: true,
  nonStickyToStickyPollRatio: true,
  maxConcurrentWorkflowTaskPolls: true,
  workflowTaskPollerBehavior: true,
  activityTaskPollerBehavior: true,
  nexusTaskPollerBehavior: true,
  maxConcurrentActivityTaskPolls: true,
  maxConcurrentNexusTaskPolls: true,
  stickyQueueScheduleToStartTimeout: true,
  maxCachedWorkflows: true,
  workflowThreadPoolSize: true,
  reuseV8Context: true,
  maxHeartbeatThrottleInterval: true,
  defaultHeartbeatThrottleInterval: true,
  interceptors: true,
  sinks: true,
  workflowFailureErrorTypes: true,
  enableSDKTracing: true,
  showStackTraceSources: true,
  debugMode: true,
  bundlerOptions: true,
} satisfies Record<keyof PassedOn, true>);

export function checkWorkerOptions(place: string, options: object): void {
  const listed = `known are ${ownOptionNames.join(', ')}, and the options of Temporal's worker`;
  checkOptions(place, options, [...ownOptionNames, ...passedOnNames], listed);
}

/** Throws `internal` with one sentence if the namespace lacks search attributes of the inbox. */
export async function requireAttributes(connection: Services, namespace: string, names: AttributeNames): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace, names).catch((error: unknown) => {
    // Temporal's time-skipping test server cannot list search attributes, and accepts all names.
    if (grpcStatusOf(error) === grpcStatus.UNIMPLEMENTED) return [];
    throw error;
  });
  if (missing.length === 0) return;
  throw new ProblemError({
    code: 'internal',
    message: `Namespace '${namespace}' lacks the search attributes ${missing.join(', ')}: run \`countersign setup\` once.`,
  });
}
