import type { LogLevel, Logger, WorkerOptions as TemporalWorkerOptions, WorkerPlugin } from '@temporalio/worker';
import { checkOptions } from '../agents/check-options.ts';
import type { ServerOptions } from '../connection/connection-settings.ts';
import { type PluginOptions, pluginOptionNames } from './plugin-options.ts';
import { type Services, missingSearchAttributes } from '../connection/search-attributes.ts';
import { grpcStatus, grpcStatusOf } from '../connection/server-error.ts';
import type { AttributeNames } from '../core/base/attribute-names.ts';
import { ProblemError } from '../core/base/problem.ts';

/**
 * Options of Temporal's worker that reach it unchanged, such as `tuner`, `interceptors` and `workerDeploymentOptions`.
 */
type PassedOn = Partial<Omit<TemporalWorkerOptions, 'connection' | 'namespace' | 'plugins' | 'taskQueue'>>;

/**
 * The server, the agents and activities, and every option of Temporal's worker under its own name. Defaults that differ
 * from Temporal's: `workflowsPath` is the workflow `agentRun` alone, `shutdownGraceTime` is 10 seconds,
 * `shutdownForceTime` is 10 seconds more, and those of the plugin. Activities under `gated` run only behind a gate, for
 * any scheduler.
 */
export interface WorkerOptions extends ServerOptions, Omit<PluginOptions, 'channels'>, PassedOn {
  /**
   * By name, or the path of a channel file (docs/channels.md), which also sets the other options of channels. Default:
   * none.
   */
  channels?: PluginOptions['channels'] | string;
  /** Default `countersign`. */
  taskQueue?: string;
  /** Other plugins of Temporal's, such as an integration of an agent framework. */
  plugins?: readonly WorkerPlugin[];
  /** The least severe log lines of Temporal's SDK on standard error; the first worker sets it. Default `WARN`. */
  logLevel?: LogLevel;
  /** Receives the log lines, in place of standard error and of `logLevel`; the first worker sets it. */
  logger?: Logger;
}

/** The options that are not Temporal's, or that `createWorker` reads itself. */
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

/** Throws a `DefinitionError` for an option that no worker has. `place` names the options in it. */
export function checkWorkerOptions(place: string, options: object): void {
  const listed = `known are ${ownOptionNames.join(', ')}, and the options of Temporal's worker`;
  checkOptions(place, options, [...ownOptionNames, ...passedOnNames], listed);
}

/** Throws `internal` with one sentence if the namespace lacks search attributes of the inbox. */
export async function requireAttributes(connection: Services, namespace: string, names: AttributeNames): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace, names).catch((error: unknown) => {
    // Temporal's time-skipping test server has no list of them: it cannot be queried, and accepts them anyway.
    if (grpcStatusOf(error) === grpcStatus.UNIMPLEMENTED) return [];
    throw error;
  });
  if (missing.length === 0) return;
  throw new ProblemError({
    code: 'internal',
    message: `Namespace '${namespace}' lacks the search attributes ${missing.join(', ')}: run \`countersign setup\` once.`,
  });
}
