/** Joins agents, tools and policy with Temporal's worker. */
import type {
  LogLevel,
  Logger,
  WorkerOptions as TemporalWorkerOptions,
  WorkerPlugin,
  WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { type DataConverter, IllegalStateError } from '@temporalio/common';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  bundleWorkflowCode,
  makeTelemetryFilterString,
} from '@temporalio/worker';
import type { ChannelOptions } from '../channels/channel-set.ts';
import { attributeNamesOf } from '../connection/attribute-names.ts';
import { modulePath } from '../connection/module-path.ts';
import { connectionSettings } from '../connection/connection-settings.ts';
import { translateServerError, unreachable } from '../connection/server-error.ts';
import { defaultTaskQueue } from '../contract.ts';
import { checkWorkerOptions, ownOptionNames, type WorkerOptions } from './worker-options.ts';
import { bundleKind, packageBundle } from './package-bundle.ts';
import { CountersignPlugin } from './plugin.ts';
import { requireAttributes } from './require-attributes.ts';

/** The result of `createWorker`: a worker of Temporal's, with the connection that it owns. */
export interface CountersignWorker {
  /**
   * Polls until `shutdown`, resolves when everything that ran has ended, and closes the connection. Rejects if the worker
   * fails for good.
   */
  run(): Promise<void>;
  /** Stops polling. Activities get `shutdownGraceTime` to end before they are cancelled. */
  shutdown(): void;
}

/**
 * Makes a worker for these agents and gated activities, and connects it. Throws a `DefinitionError` for invalid options,
 * and a `ProblemError` when the policy does not load (`policy_invalid`, with line and column), the server does not answer
 * (`server_unreachable`), or the namespace lacks the search attributes of the inbox (`internal`, naming `countersign
 * setup`).
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

async function makeWorker(options: WithChannels): Promise<CountersignWorker> {
  const plugin = new CountersignPlugin({ leanBundle: options.workflowsPath === undefined, ...options });
  installLogger(options.logLevel ?? 'WARN', options.logger);
  const { namespace, ...settings } = connectionSettings(options);
  const connection = await connectNative(settings, namespace);
  const { plugins = [], taskQueue = defaultTaskQueue } = options;
  try {
    await requireAttributes(connection, namespace, attributeNamesOf(options.attributes));
    const worker = await Worker.create({
      shutdownGraceTime: '10s',
      ...workflowCode(options),
      ...passedOn(options),
      connection,
      namespace,
      taskQueue,
      plugins: [plugin, ...plugins],
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

type WithChannels = Omit<WorkerOptions, 'channels'> & ChannelOptions;

/** The options with the channels of their file, which says the rest about channels too. */
async function withChannels({ channels, ...options }: WorkerOptions): Promise<WithChannels> {
  if (typeof channels !== 'string') return { ...options, channels };
  // Its kinds load slowly, and most workers have no such file.
  const { readChannels } = await import('../channels.ts');
  return { ...options, ...(await readChannels(channels)) };
}

/** A bundle of the package, or what Temporal's worker bundles unless the options name something else. */
function workflowCode(options: WithChannels): Partial<TemporalWorkerOptions> {
  const codePath = packageBundle(bundleKind(options), (sentence) => Runtime.instance().logger.warn(sentence));
  if (codePath !== undefined) return { workflowBundle: { codePath } };
  return options.workflowBundle === undefined ? { workflowsPath: modulePath('workflows/index') } : {};
}

/** Everything but what is ours and what `createWorker` makes itself. */
function passedOn(options: WithChannels): Partial<TemporalWorkerOptions> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && !ownOptionNames.includes(name)),
  );
}

/**
 * Bundles the workflows that the module at `workflowsPath` exports, for the option `workflowBundle` of a worker: so a
 * worker with workflows of its own starts without a bundler. By default it bundles `agentRun`, which the package also
 * brings bundled. `plugins` are those besides ours that change the bundle; `dataConverter`
 * is that of the worker, whose failure converter becomes part of the bundle. Rejects if the module cannot be bundled.
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

/** Temporal has one runtime in each process, with its logger. A runtime that is installed already stays. */
function installLogger(level: LogLevel, logger: Logger = new DefaultLogger(level)): void {
  if (loggerInstalled) return;
  loggerInstalled = true;
  try {
    Runtime.install({
      logger,
      // By default the SDK's core writes to standard output, at a level of its own.
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
    // The SDK warns of every memo over 2 KB. Ours has its own limits.
    return await NativeConnection.connect({ ...settings, payloadLimits: { memoWarnSize: 0 } });
  } catch (error) {
    const problem = translateServerError(error, { address: settings.address, namespace });
    throw problem.code === 'internal' ? unreachable(settings.address, error) : problem;
  }
}
