/** Joins agents, tools and policy with Temporal's worker. */
import type { LogLevel, WorkflowBundleWithSourceMap, WorkerPlugin } from '@temporalio/worker';
import { IllegalStateError } from '@temporalio/common';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  bundleWorkflowCode,
  makeTelemetryFilterString,
} from '@temporalio/worker';
import { bundledPath } from '../connection/bundled-path.ts';
import type { ServerOptions } from '../connection/connection-settings.ts';
import { connectionSettings } from '../connection/connection-settings.ts';
import { translateServerError, unreachable } from '../connection/server-error.ts';
import { defaultTaskQueue } from '../contract.ts';
import type { PluginOptions } from './plugin.ts';
import { countersignPlugin } from './plugin.ts';

export interface WorkerOptions extends ServerOptions, PluginOptions {
  /** Default `countersign`. */
  taskQueue?: string;
  /** Workflows of one's own: a module that exports them and, if agents run here, `agentRun`. Default: `agentRun` alone. */
  workflowsPath?: string;
  /** What `bundleWorkflows` returned, to spare each worker the bundling. */
  workflowBundle?: { code: string } | { codePath: string };
  /** Activities of one's own; those under `gated` run only behind a gate. */
  activities?: object;
  /** Other plugins of Temporal's, such as an integration of an agent framework. */
  plugins?: readonly WorkerPlugin[];
  /** Runs kept in memory; 0 makes every step replay, which tests use. Default: Temporal's. */
  maxCachedWorkflows?: number;
  /** Tools and model calls at a time. Default: Temporal's, 100. */
  maxConcurrentActivities?: number;
  /** What Temporal's SDK writes to standard error; the first worker of a process decides. Default `WARN`. */
  logLevel?: LogLevel;
  /** How long a worker that shuts down waits for running tools, in milliseconds. Default 10 seconds. */
  shutdownGraceMs?: number;
}

export interface CountersignWorker {
  /** Works until `shutdown`; settles when all that ran has ended. */
  run(): Promise<void>;
  shutdown(): void;
}

/**
 * Makes a worker for these agents. Refuses to start, in one sentence, when the policy does not load
 * (`policy_invalid`, with line and column), the server does not answer (`server_unreachable`), or the cluster lacks
 * the search attributes of the inbox (`internal`, naming `countersign setup`).
 */
export async function createWorker(options: WorkerOptions): Promise<CountersignWorker> {
  const plugin = countersignPlugin(options);
  installLogger(options.logLevel ?? 'WARN');
  const { namespace, ...settings } = connectionSettings(options);
  const connection = await connectNative(settings, namespace);
  try {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: options.taskQueue ?? defaultTaskQueue,
      ...(options.workflowBundle === undefined
        ? { workflowsPath: options.workflowsPath ?? bundledPath('index') }
        : { workflowBundle: options.workflowBundle }),
      ...(options.activities === undefined ? {} : { activities: options.activities }),
      plugins: [plugin, ...(options.plugins ?? [])],
      ...(options.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: options.maxCachedWorkflows }),
      ...(options.maxConcurrentActivities === undefined
        ? {}
        : { maxConcurrentActivityTaskExecutions: options.maxConcurrentActivities }),
      shutdownGraceTime: options.shutdownGraceMs ?? 10_000,
    });
    return {
      run: async () => {
        try {
          await worker.run();
        } finally {
          await connection.close();
        }
      },
      shutdown: () => worker.shutdown(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Bundles the workflows of this package, or of a module of one's own that exports them; for other plugins, too. */
export function bundleWorkflows(
  workflowsPath = bundledPath('index'),
  plugins: readonly WorkerPlugin[] = [],
): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath,
    plugins: [countersignPlugin(), ...plugins],
    logger: new DefaultLogger('ERROR'),
  });
}

let loggerInstalled = false;

/** Temporal keeps one runtime a process, with its logger; one that the process has installed before stays. */
function installLogger(level: LogLevel): void {
  if (loggerInstalled) return;
  loggerInstalled = true;
  try {
    Runtime.install({
      logger: new DefaultLogger(level),
      // Else the SDK's core writes to standard output, at a level of its own.
      telemetryOptions: {
        logging: { forward: {}, filter: makeTelemetryFilterString({ core: level, other: 'ERROR' }) },
      },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

async function connectNative(
  settings: Omit<ReturnType<typeof connectionSettings>, 'namespace'>,
  namespace: string,
): Promise<NativeConnection> {
  try {
    // Our memo has limits of its own; the SDK would warn of each that passes 2 KB.
    return await NativeConnection.connect({ ...settings, payloadLimits: { memoWarnSize: 0 } });
  } catch (error) {
    const problem = translateServerError(error, { address: settings.address, namespace });
    throw problem.code === 'internal' ? unreachable(settings.address, error) : problem;
  }
}
