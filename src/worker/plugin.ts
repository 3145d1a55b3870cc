import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientOptions } from '@temporalio/client';
import { SimplePlugin } from '@temporalio/plugin';
import {
  Runtime,
  type ActivityInterceptorsFactory,
  type BundleOptions,
  type ReplayWorkerOptions,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { checkOptions, DefinitionError } from '../agents/check-options.ts';
import { separatePermit } from '../activities/second-gate.ts';
import { CountersignClientPlugin } from '../client/server/client-plugin.ts';
import { attributeNamesOf } from '../connection/search-attributes.ts';
import { modulePath } from '../connection/module-path.ts';
import { connectionSettings } from '../connection/connection-settings.ts';
import { requireOneSdk, workerIdentity } from '../connection/one-sdk.ts';
import { ownConverterPath, withWorkerConverter } from '../connection/own-converter.ts';
import type { AttributeNames } from '../core/base/attribute-names.ts';
import { engine } from '../core/policy/ruling.ts';
import { type LargePayloads, largePayloadsOf, withStorage } from '../payload-folder/large-payloads.ts';
import { type ActivitySide, activitySide } from './activity-side.ts';
import { type BundlerConfiguration, leanBundle } from './lean-bundle.ts';
import { type PluginOptions, pluginOptionNames, requireAttributes } from './worker-options.ts';

/**
 * A plugin for `Worker.create` and `bundleWorkflowCode`. For a `Client` in the same process, it does what
 * `CountersignClientPlugin` does. Throws a `DefinitionError` for unknown or contradictory options, `policy_invalid`
 * for a policy that does not load, and `internal` for an invalid `largePayloads` or `attributes`. `Worker.create`
 * rejects for an activity name that exists, another payload converter, an unusable payload folder, and two copies of
 * Temporal's SDK. `worker.run()` shuts the worker down and rejects (`internal`) in a namespace without the search
 * attributes of the inbox.
 *
 * The plugin adds activities, an activity interceptor and workflow interceptors to the worker, and sets the payload
 * converter. It also sets these options if the worker does not: the external storage,
 * `stickyQueueScheduleToStartTimeout` (2 seconds), an `identity` that ends with the version, its engine and the
 * policy's digest, and, with agents, `maxHeartbeatThrottleInterval` (250 milliseconds).
 *
 * @example
 * ```ts
 * import { join } from 'node:path';
 * import { loadClientConnectConfig } from '@temporalio/envconfig';
 * import { NativeConnection, Worker } from '@temporalio/worker';
 * import { CountersignPlugin } from 'countersign/worker';
 *
 * const { connectionOptions, namespace } = loadClientConnectConfig();
 * const connection = await NativeConnection.connect(connectionOptions);
 * const worker = await Worker.create({
 *   connection,
 *   namespace,
 *   taskQueue: 'orders',
 *   workflowsPath: join(import.meta.dirname, 'workflows.ts'),
 *   activities: { refund: async (orderId: string) => `refunded ${orderId}` },
 *   plugins: [new CountersignPlugin({ gated: { refund: { risk: 'destructive' } }, workflowTypes: ['returnOrder'] })],
 * });
 * const running = worker.run();
 * console.log(worker.getState()); // RUNNING
 * worker.shutdown();
 * await running;
 * await connection.close();
 * ```
 */
export class CountersignPlugin extends SimplePlugin {
  readonly #client: CountersignClientPlugin;
  readonly #attributes: AttributeNames;
  readonly #largePayloads: Required<LargePayloads> | undefined;
  readonly #isLean: boolean;
  readonly #hasAgents: boolean;
  readonly #side: ActivitySide;

  constructor(options: PluginOptions = {}) {
    checkOptions('CountersignPlugin', options, pluginOptionNames);
    const names = attributeNamesOf(options.attributes);
    const largePayloads = largePayloadsOf(options.largePayloads);
    const side = activitySide(options, names, largePayloads);
    const { activities, inbound } = side;
    super({
      name: 'countersign',
      activities: (given: object = {}) => {
        refuseInputTypes(given, Object.keys(options.gated ?? {}));
        return joinActivities(given, activities);
      },
      dataConverter: withWorkerConverter,
      workerInterceptors: { activity: [() => ({ inbound })], workflowModules: [modulePath('workflows/interceptors')] },
    });
    this.#client = new CountersignClientPlugin({ largePayloads: largePayloads ?? false });
    this.#attributes = names;
    this.#largePayloads = largePayloads;
    this.#side = side;
    this.#isLean = options.leanBundle === true;
    this.#hasAgents = (options.agents ?? []).length > 0;
  }

  override configureClient(options: ClientOptions): ClientOptions {
    return this.#client.configureClient(options);
  }

  /** Adds what the gate needs to the options of Temporal's worker: converter, storage, interceptors and time-outs. */
  override configureWorker(options: WorkerOptions): WorkerOptions {
    requireOneSdk();
    const { dataConverter, namespace = 'default', interceptors } = options;
    const configured = super.configureWorker({
      ...options,
      dataConverter: withStorage(dataConverter, this.#largePayloads, namespace, 'retry'),
      // A run's next task waits this long for the worker that ran it last, even if that worker was killed. Temporal's
      // default is 10 seconds, by which every decision would be late.
      stickyQueueScheduleToStartTimeout: options.stickyQueueScheduleToStartTimeout ?? '2s',
      // Heartbeats carry the model's text to viewers. With Temporal's default, they would be sent every 24 seconds.
      ...(this.#hasAgents && { maxHeartbeatThrottleInterval: options.maxHeartbeatThrottleInterval ?? '250ms' }),
      // `countersign doctor` reads from the identity by which engine and which policy this worker rules.
      identity: options.identity ?? workerIdentity(hostname(), { engine, policyDigest: this.#side.policyDigest }),
    });
    const first: ActivityInterceptorsFactory = () => ({ inbound: separatePermit });
    const activity = [first, ...(configured.interceptors?.activity ?? [])];
    // `...interceptors` keeps the user's deprecated `activityInbound`, which `SimplePlugin` drops.
    return { ...configured, interceptors: { ...interceptors, ...configured.interceptors, activity } };
  }

  override configureReplayWorker(options: ReplayWorkerOptions): ReplayWorkerOptions {
    // The options of a replay name no namespace, so payloads are read from the folder of the configured one.
    const { namespace } = connectionSettings();
    const dataConverter = withStorage(options.dataConverter, this.#largePayloads, namespace, 'retry');
    return super.configureReplayWorker({ ...options, dataConverter });
  }

  /** Adds the payload converter, the workflow interceptors and preloaded modules to the workflow bundle. */
  override configureBundler(options: BundleOptions): BundleOptions {
    requireOneSdk(options.workflowsPath);
    const configured = super.configureBundler(options);
    return {
      ...configured,
      payloadConverterPath: ownConverterPath(options.payloadConverterPath),
      // The set removes duplicates: a worker that bundles has the plugin's modules already, from `configureWorker`.
      workflowInterceptorModules: [...new Set(configured.workflowInterceptorModules)],
      preloadModules: [...(options.preloadModules ?? []), modulePath('workflows/preloaded')],
      webpackConfigHook: (given) => {
        const config = singleFile(options.webpackConfigHook?.(given) ?? given);
        return this.#isLean ? leanBundle(config) : config;
      },
    };
  }

  /**
   * Runs the worker, and shuts it down if search attributes are missing. The check runs beside the worker, not before
   * it, because the SDK's `runUntil` and `shutdown` must find a running worker.
   */
  override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    for (const sentence of this.#side.policyWarnings) Runtime.instance().logger.warn(sentence);
    const running = this.#runToEnd(worker, next);
    const refusal = await Promise.race([this.#refusal(worker), running.then(() => undefined)]);
    if (refusal === undefined) return running;
    await shutDown(worker, running);
    throw refusal.error;
  }

  /** Runs the worker, warns of channels that cannot send, and in the end closes what its activities have opened. */
  async #runToEnd(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const hasEnded = new AbortController();
    // The worker does not wait for this check: a channel's receiver may be slow, or may be reachable later.
    void this.#side.warnOfUnreached(hasEnded.signal, (sentence) => Runtime.instance().logger.warn(sentence));
    try {
      await super.runWorker(worker, next);
    } finally {
      hasEnded.abort();
      for (const sentence of await this.#side.stop()) Runtime.instance().logger.warn(sentence);
    }
  }

  async #refusal({ connection, options }: Worker): Promise<{ error: unknown } | undefined> {
    if (connection === undefined) return undefined;
    return requireAttributes(connection, options.namespace, this.#attributes).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  }
}

function joinActivities(given: object, ours: Record<string, unknown>): object {
  const taken = Object.keys(given).find((name) => Object.hasOwn(ours, name));
  if (taken !== undefined) throw new DefinitionError(`the worker has an activity '${taken}' already; rename one`);
  return { ...given, ...ours };
}

/** Throws if a gated activity has `inputTypes`: the author's converter would get the permit in the first argument. */
function refuseInputTypes(given: object, gated: readonly string[]): void {
  const activities = given as Record<string, { activityDefinitionOptions?: { typeInfo?: { inputTypes?: unknown } } }>;
  const hinted = gated.find((name) => activities[name]?.activityDefinitionOptions?.typeInfo?.inputTypes !== undefined);
  if (hinted === undefined) return;
  throw new DefinitionError(`gated activity '${hinted}': remove inputTypes from its type information`);
}

/** Shuts a worker down and waits until it has ended. Until then its connection cannot be closed. */
async function shutDown(worker: Worker, running: Promise<void>): Promise<void> {
  const hasEnded = running.then(
    () => true,
    () => true,
  );
  // Other plugins may delay the start of the worker, and a worker that has not started cannot be shut down.
  while (worker.getState() === 'INITIALIZED' && !(await Promise.race([hasEnded, sleep(10, false)]))) continue;
  if (worker.getState() === 'RUNNING') worker.shutdown();
  await hasEnded;
}

/** Makes webpack write one file. For a dynamic import it would write a second one, which the sandbox cannot load. */
function singleFile(config: BundlerConfiguration): BundlerConfiguration {
  return { ...config, output: { ...config.output, asyncChunks: false } };
}
