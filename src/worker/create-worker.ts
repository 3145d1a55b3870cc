import {
  type LogLevel,
  type Logger,
  type WorkerOptions as TemporalWorkerOptions,
  type WorkerPlugin,
  type WorkflowBundleWithSourceMap,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  bundleWorkflowCode,
  makeTelemetryFilterString,
  LogTimestamp,
} from '@temporalio/worker';
import { type DataConverter, IllegalStateError } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import type { WorkerOptions } from './worker-options.ts';
import { pluginOptionsOf, checkWorkerOptions, ownOptionNames, requireAttributes } from './worker-options.ts';
import type { ChannelOptions } from '../channels/channel-set.ts';
import { attributeNamesOf } from '../connection/search-attributes.ts';
import { modulePath } from '../connection/module-path.ts';
import { connectionSettings } from '../connection/connection-settings.ts';
import { ProblemError } from '../core/base/problem.ts';
import { translateServerError, unreachable } from '../connection/server-error.ts';
import { defaultTaskQueue } from '../contract.ts';
import { bundleKind, packageBundle } from './package-bundle.ts';
import { CountersignPlugin } from './plugin.ts';
import { LineTerminal } from '../channels/line-terminal.ts';

/** The result of `createWorker`: a Temporal worker, with the connection that it owns. */
export interface CountersignWorker {
  /**
   * Polls until `shutdown`, resolves when all running work has ended, and closes the connection. Rejects if the worker
   * fails permanently, and with a `ProblemError` (`internal`) if running work does not end: then end the process.
   */
  run(): Promise<void>;
  /**
   * Stops polling. Activities get `shutdownGraceTime` to end before they are cancelled, and after `shutdownForceTime`
   * the worker ends without those that ignore cancellation.
   */
  shutdown(): void;
}

/**
 * Makes a worker for these agents and gated activities, and connects it. Throws a `DefinitionError` for invalid
 * options, and a `ProblemError` if the policy does not load (`policy_invalid`), if the server does not answer
 * (`server_unreachable`), or if the namespace lacks the search attributes of the inbox (`internal`).
 *
 * @example
 * ```ts
 * import { defineAgent, scriptedModel } from 'countersign';
 * import { createClient } from 'countersign/client';
 * import { createWorker } from 'countersign/worker';
 *
 * const model = scriptedModel([{ text: 'We open at nine.' }]);
 * const hours = defineAgent({ name: 'hours', instructions: 'You know when we open.', model });
 * const worker = await createWorker({ agents: [hours], taskQueue: 'hours', policy: { rules: [] } });
 * const running = worker.run();
 *
 * const client = await createClient({ taskQueue: 'hours' });
 * const run = await client.start(hours, 'When do you open?');
 * console.log((await run.result()).output); // We open at nine.
 * worker.shutdown();
 * await Promise.all([running, client.close()]);
 * ```
 */
export async function createWorker(options: WorkerOptions): Promise<CountersignWorker> {
  checkWorkerOptions('createWorker', options);
  return makeWorker(await withChannels(options));
}

/** Makes the worker and its connection, which is closed when the worker has ended or cannot be made. */
async function makeWorker(options: WithChannels): Promise<CountersignWorker> {
  const { plugins = [], taskQueue = defaultTaskQueue, shutdownGraceTime = '10s' } = options;
  const forceMs = msToNumber(options.shutdownForceTime ?? msToNumber(shutdownGraceTime) + afterGraceMs);
  const plugin = new CountersignPlugin({
    leanBundle: options.workflowsPath === undefined,
    ...pluginOptionsOf(options),
  });
  installLogger(options.logLevel ?? 'WARN', options.logger);
  const { namespace, ...settings } = connectionSettings(options);
  const connection = await connectNative(settings, namespace);
  try {
    await requireAttributes(connection, namespace, attributeNamesOf(options.attributes));
    const worker = await Worker.create({
      shutdownGraceTime,
      ...workflowCode(options),
      ...passedOn(options),
      connection,
      namespace,
      taskQueue,
      plugins: [plugin, ...plugins],
    });
    return { run: () => runToEnd(worker, connection, forceMs), shutdown: () => worker.shutdown() };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** The time from the end of the grace time (10 s) to the forced end, which is before Kubernetes kills, after 30 s. */
const afterGraceMs = 10_000;

/** Runs the worker until it ends, at most `forceMs` after its shutdown began. Then closes the connection. */
async function runToEnd(worker: Worker, connection: NativeConnection, forceMs: number): Promise<void> {
  const ended = new AbortController();
  try {
    await Promise.race([worker.run(), rejectAfterShutdown(worker, forceMs, ended.signal)]);
  } finally {
    ended.abort();
    await closeUnlessUsed(connection);
  }
}

/**
 * Rejects `forceMs` after the shutdown of the worker began. It replaces the worker's `shutdown` method to learn when:
 * Temporal calls this method, too, after a signal or a failure.
 */
function rejectAfterShutdown(worker: Worker, forceMs: number, ended: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const shutdown = worker.shutdown.bind(worker);
    worker.shutdown = () => {
      shutdown();
      const timer = setTimeout(() => reject(new ProblemError({ code: 'internal', message: notEnded })), forceMs);
      ended.addEventListener('abort', () => clearTimeout(timer));
    };
  });
}

const notEnded = 'The worker has ended without something that still runs in it, such as a tool that heeds no signal.';

/** Closes the connection of a worker. The SDK throws an `IllegalStateError` if work that did not end still uses it. */
async function closeUnlessUsed(connection: NativeConnection): Promise<void> {
  try {
    await connection.close();
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

type WithChannels = Omit<WorkerOptions, 'channels'> & ChannelOptions;

/** Returns the options, with what the channel file declares in place of the file's name. */
async function withChannels({ channels, ...options }: WorkerOptions): Promise<WithChannels> {
  if (typeof channels !== 'string') return { ...options, channels };
  // This module is loaded only if it is needed, because it loads every kind of channel, which is slow.
  const { readChannels } = await import('../channels.ts');
  return { ...options, ...(await readChannels(channels)) };
}

function workflowCode(options: WithChannels): Partial<TemporalWorkerOptions> {
  const codePath = packageBundle(bundleKind(options), (sentence) => Runtime.instance().logger.warn(sentence));
  if (codePath !== undefined) return { workflowBundle: { codePath } };
  return options.workflowBundle === undefined ? { workflowsPath: modulePath('workflows/index') } : {};
}

function passedOn(options: WithChannels): Partial<TemporalWorkerOptions> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && !ownOptionNames.includes(name)),
  );
}

/**
 * Bundles the workflows that the module at `workflowsPath` exports. A worker that gets the result as `workflowBundle`
 * starts without bundling them itself. Default: the module of `agentRun`, whose bundle the package contains already.
 * `plugins`: further plugins that change the bundle. `dataConverter`: that of the worker, whose failure converter
 * becomes part of the bundle. Rejects if the module cannot be bundled.
 *
 * @example
 * ```ts
 * import { bundleWorkflows, createWorker } from 'countersign/worker';
 *
 * const { code } = await bundleWorkflows();
 * console.log(code.includes('agentRun')); // true
 * const worker = await createWorker({ taskQueue: 'bundled', workflowBundle: { code } });
 * const running = worker.run();
 * worker.shutdown();
 * await running;
 * ```
 */
export function bundleWorkflows(
  workflowsPath = modulePath('workflows/index'),
  plugins: readonly WorkerPlugin[] = [],
  dataConverter?: DataConverter,
): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath,
    failureConverterPath: dataConverter?.failureConverterPath,
    plugins: [new CountersignPlugin({ leanBundle: workflowsPath === modulePath('workflows/index') }), ...plugins],
    logger: new DefaultLogger('ERROR'),
  });
}

let loggerInstalled = false;

/** Installs Temporal's runtime, of which a process has one, with this logger. A runtime of the user's own stays. */
function installLogger(level: LogLevel, logger: Logger = defaultLogger(level)): void {
  if (loggerInstalled) return;
  loggerInstalled = true;
  try {
    Runtime.install({
      logger,
      // Without this, the SDK's core would write its log lines to standard output, not to the logger.
      telemetryOptions: {
        logging: { forward: {}, filter: makeTelemetryFilterString({ core: level, other: 'ERROR' }) },
      },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** Connects to the server. Throws a `ProblemError` that names the address; an unknown failure counts as unreachable. */
async function connectNative(
  settings: Omit<ReturnType<typeof connectionSettings>, 'namespace'>,
  namespace: string,
): Promise<NativeConnection> {
  try {
    // The SDK warns of every memo over 2 KB. Countersign's memos have limits of their own.
    return await NativeConnection.connect({ ...settings, payloadLimits: { memoWarnSize: 0 } });
  } catch (error) {
    const problem = translateServerError(error, { address: settings.address, namespace });
    throw problem.code === 'internal' ? unreachable(settings.address, error) : problem;
  }
}

/** Returns Temporal's logger, which prints an unanswered question of the console channel again below each line. */
export function defaultLogger(level: LogLevel): Logger {
  const plain = new DefaultLogger(level);
  return new DefaultLogger(level, ({ level: ofLine, message, meta, timestampNanos }) =>
    LineTerminal.logBeside(() => plain.log(ofLine, message, { ...meta, [LogTimestamp]: timestampNanos })),
  );
}
