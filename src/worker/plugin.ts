/** The plugin for Temporal's worker: everything that runs and gates need. `createWorker` uses it too. */
import { isDeepStrictEqual } from 'node:util';
import type { BundleOptions, BundlerPlugin, NativeConnection, WorkerOptions, WorkerPlugin } from '@temporalio/worker';
import type { ExternalStorage } from '@temporalio/common';
import { arbitrate } from '../activities/arbitrate.ts';
import { createCallModel } from '../activities/call-model.ts';
import { callTool } from '../activities/call-tool.ts';
import { createCheckEdit } from '../activities/check-edit.ts';
import { createLoadAgent } from '../activities/load-agent.ts';
import { createLoadGate } from '../activities/load-gate.ts';
import { notify } from '../activities/notify.ts';
import { readParents } from '../activities/read-parents.ts';
import { readPolicy } from '../activities/read-policy.ts';
import { secondGate } from '../activities/second-gate.ts';
import { verifyCarried } from '../activities/verify-carried.ts';
import { checkAssessors, type Assessor } from '../agents/assessor.ts';
import { checkGated } from '../agents/check-gated.ts';
import type { Agent } from '../agents/definitions.ts';
import type { Tool } from '../agents/definitions.ts';
import { DefinitionError } from '../agents/definition-error.ts';
import { createRegistry } from '../agents/registry.ts';
import { bundledPath } from '../connection/bundled-path.ts';
import { attributeNamesOf } from '../connection/attribute-names.ts';
import { connectionSettings } from '../connection/connection-settings.ts';
import { missingSearchAttributes } from '../connection/search-attributes.ts';
import { grpcStatus, grpcStatusOf } from '../connection/server-error.ts';
import { activityNames, workflowType } from '../contract.ts';
import { type AttributeNames, type AttributeNameOptions, defaultAttributeNames } from '../core/base/attribute-names.ts';
import type { GatedActivities } from '../core/policy/gated-activity.ts';
import type { Policy } from '../core/policy/policy.ts';
import { ProblemError } from '../core/base/problem.ts';
import type { ContinueAsNewAfter } from '../core/policy/run-config.ts';
import { inlineLimits, storedLimits } from '../core/base/size-limits.ts';
import { leanBundle, singleFile } from './lean-bundle.ts';
import { loadPolicy } from './load-policy.ts';
import { folderStorage, largePayloadsOf } from '../payload-folder/large-payloads.ts';
import type { LargePayloads } from '../payload-folder/large-payloads.ts';
import { unreadReferences } from '../payload-folder/unread-references.ts';

export interface PluginOptions {
  agents?: readonly Agent[];
  /** Tools that no agent has. */
  tools?: readonly Tool[];
  /** Activities of your own that run only behind a gate (docs/gate.md), by name. */
  gated?: GatedActivities;
  /** The operator's ceiling: a policy document, its text, or the path of a `.yaml`, `.yml` or `.json` file. */
  policy?: string | object;
  /** Assessors of your own, beside the built-in ones and the `assess:` rules of the policy. They see agents' calls. */
  assessors?: readonly Assessor[];
  /** The workflow types, besides `agentRun`, whose gated activities may run here. Default: none. */
  workflowTypes?: readonly string[];
  /** When executions continue as new; recorded at the start. Default: 8,000 history events or 1,500 updates. */
  continueAsNewAfter?: Partial<ContinueAsNewAfter>;
  /**
   * A folder for payloads that are too large for Temporal's server. All workers of the task queue and all clients of its
   * runs share it (docs/operations.md). Default: `COUNTERSIGN_PAYLOAD_FOLDER`; `false` ignores that variable.
   */
  largePayloads?: LargePayloads | false;
  /**
   * The names of the inbox's search attributes; recorded in each run at its start. `tags: false` omits ApprovalTags.
   * Default: `COUNTERSIGN_ATTRIBUTES`, else ApprovalIds, ApprovalTags and ApprovalDue.
   */
  attributes?: AttributeNameOptions;
  /**
   * Removes comments and the text of sources from the workflow bundle, which every worker holds in memory. Default:
   * false; `createWorker` and `bundleWorkflows` do it where they bundle `agentRun` alone.
   */
  leanBundle?: boolean;
}

/** The names above, all of them: Temporal's worker does not know these options. */
export const pluginOptionNames: readonly string[] = Object.keys({
  agents: true,
  tools: true,
  gated: true,
  policy: true,
  assessors: true,
  workflowTypes: true,
  continueAsNewAfter: true,
  largePayloads: true,
  attributes: true,
  leanBundle: true,
} satisfies Record<keyof PluginOptions, true>);

export type CountersignPlugin = BundlerPlugin &
  Required<Pick<WorkerPlugin, 'configureWorker' | 'configureReplayWorker'>>;

const defaultContinueAsNewAfter: ContinueAsNewAfter = { historyEvents: 8_000, updates: 1_500 };
/** Below these bounds an execution continues as new before it makes progress; above them Temporal ends it. */
const continueAsNewBounds = { historyEvents: [20, 40_000], updates: [10, 1_900] } as const;

/**
 * Makes a plugin for `Worker.create` and `bundleWorkflowCode`. Throws a `DefinitionError` for options that contradict
 * each other, and `policy_invalid` for a policy that does not load. The worker does not start (`internal`) in a namespace
 * without the search attributes of the inbox.
 *
 * What it changes of a worker: it adds activities, an activity interceptor and workflow interceptors; it sets the
 * payload converter, the external storage where none is set, and `stickyQueueScheduleToStartTimeout` to 2 seconds where
 * it is not set.
 */
export function countersignPlugin(options: PluginOptions = {}): CountersignPlugin {
  const registry = createRegistry({ agents: options.agents ?? [], tools: options.tools });
  const gated = checkGated(options.gated ?? {});
  const { assessors = [], workflowTypes = [] } = options;
  checkAssessors(assessors);
  for (const { name } of registry.tools) {
    if (gated.has(name)) throw new DefinitionError(`'${name}' is a tool and a gated activity; rename one`);
  }
  const ceiling =
    options.policy === undefined ? undefined : loadPolicy(options.policy, `the worker's policy`, { ceiling: true });
  const agentPolicies = new Map<string, Policy>();
  for (const { name, policy } of registry.agents) {
    if (policy !== undefined)
      agentPolicies.set(
        name,
        loadPolicy(policy, `the policy of agent '${name}'`, { maxTimeoutMs: ceiling?.approval.maxTimeoutMs }),
      );
  }
  const continueAsNewAfter = checkContinueAsNewAfter({ ...defaultContinueAsNewAfter, ...options.continueAsNewAfter });
  const names = attributeNamesOf(options.attributes);
  const attributes = isDeepStrictEqual(names, defaultAttributeNames) ? undefined : names;
  const largePayloads = largePayloadsOf(options.largePayloads);
  const sizeLimits = largePayloads === undefined ? inlineLimits : storedLimits;
  const checkEdit = createCheckEdit(registry, { gated, assessors });
  const activities = {
    ...Object.fromEntries(
      registry.tools.filter(isActivity).map((tool) => [tool.name, callTool(tool, sizeLimits.resultBytes)]),
    ),
    [activityNames.loadAgent]: createLoadAgent({
      registry,
      agentPolicies,
      ceiling,
      continueAsNewAfter,
      ...(attributes === undefined ? {} : { attributes }),
      ...(largePayloads === undefined ? {} : { sizeLimits }),
    }),
    [activityNames.loadGate]: createLoadGate({
      agentPolicies,
      ceiling,
      continueAsNewAfter,
      gated,
      ...(attributes === undefined ? {} : { attributes }),
    }),
    [activityNames.callModel]: createCallModel(registry, {
      assessors,
      ...(largePayloads === undefined ? {} : { thresholdBytes: largePayloads.thresholdBytes }),
    }),
    [activityNames.arbitrate]: arbitrate,
    [activityNames.checkEdit]: checkEdit,
    [activityNames.readPolicy]: readPolicy,
    [activityNames.readParents]: readParents,
    [activityNames.notify]: notify,
    [activityNames.verifyCarried]: verifyCarried,
  };
  const inbound = secondGate({ registry, gated, workflowTypes: [workflowType, ...workflowTypes], ceiling, checkEdit });

  const storage = (namespace: string): Promise<ExternalStorage> =>
    largePayloads === undefined ? Promise.resolve(unreadReferences) : folderStorage(largePayloads, namespace, 'retry');

  return {
    name: 'countersign',
    configureWorker: async (worker) => {
      checkActivities(worker.activities, activities);
      await requireAttributes(worker.connection, worker.namespace, names);
      return {
        ...sandboxed(worker, await storage(worker.namespace ?? 'default')),
        activities: { ...worker.activities, ...activities },
        interceptors: {
          ...workflowModules(worker),
          activity: [...(worker.interceptors?.activity ?? []), () => ({ inbound })],
        },
        // With Temporal's default of 10 seconds, a killed worker delays every decision by that long.
        stickyQueueScheduleToStartTimeout: worker.stickyQueueScheduleToStartTimeout ?? '2s',
      };
    },
    configureReplayWorker: async (worker) => ({
      // A replay has no namespace of its own: it reads the folder of the one that is configured.
      ...sandboxed(worker, await storage(connectionSettings().namespace)),
      interceptors: workflowModules(worker),
    }),
    configureBundler: (bundle) => configureBundler(bundle, options.leanBundle === true),
  };
}

/** False for tools that call an agent or hand over: no activity runs them. */
function isActivity({ agent, handoff }: Tool): boolean {
  return agent === undefined && handoff === undefined;
}

/** For `bundleWorkflowCode`, and for a worker that makes its own bundle. */
function configureBundler(bundle: BundleOptions, isLean: boolean): BundleOptions {
  const { webpackConfigHook } = bundle;
  return {
    ...bundle,
    payloadConverterPath: ownConverter(bundle.payloadConverterPath),
    workflowInterceptorModules: joined(bundle.workflowInterceptorModules, [bundledPath('interceptors')]),
    preloadModules: joined(bundle.preloadModules, [bundledPath('preloaded')]),
    webpackConfigHook: (given) => {
      const config = singleFile(webpackConfigHook?.(given) ?? given);
      return isLean ? leanBundle(config) : config;
    },
  };
}

type SandboxOptions = Pick<WorkerOptions, 'dataConverter' | 'interceptors' | 'workflowBundle'>;

/** Keeps the worker's own external storage, which must read what any client sends (docs/security.md). */
function sandboxed<Options extends SandboxOptions>(options: Options, externalStorage: ExternalStorage): Options {
  const { dataConverter } = options;
  return {
    ...options,
    dataConverter: {
      externalStorage,
      ...dataConverter,
      payloadConverterPath: ownConverter(dataConverter?.payloadConverterPath),
    },
  };
}

/** A given bundle must have been made with this plugin; the gate checks that. */
function workflowModules({
  interceptors,
  workflowBundle,
}: SandboxOptions): NonNullable<SandboxOptions['interceptors']> {
  if (workflowBundle !== undefined) return { ...interceptors };
  return { ...interceptors, workflowModules: joined(interceptors?.workflowModules, [bundledPath('interceptors')]) };
}

function joined(given: readonly string[] | undefined, more: readonly string[]): string[] {
  return [...new Set([...(given ?? []), ...more])];
}

/** Ours never throws while it reads; with another one, a single signal could stop a run for ever (I5a). */
function ownConverter(given: string | undefined): string {
  const own = bundledPath('sandbox/payload-converter');
  if (given === undefined || given === own) return own;
  throw new DefinitionError(
    `countersign needs its own payload converter: remove payloadConverterPath (${given}), or do its work in a payload codec`,
  );
}

function checkActivities(given: object | undefined, ours: Record<string, unknown>): void {
  const taken = Object.keys(given ?? {}).find((name) => Object.hasOwn(ours, name));
  if (taken !== undefined) throw new DefinitionError(`the worker has an activity '${taken}' already; rename one`);
}

function checkContinueAsNewAfter(continueAsNewAfter: ContinueAsNewAfter): ContinueAsNewAfter {
  for (const name of ['historyEvents', 'updates'] as const) {
    const [least, most] = continueAsNewBounds[name];
    if (
      Number.isInteger(continueAsNewAfter[name]) &&
      continueAsNewAfter[name] >= least &&
      continueAsNewAfter[name] <= most
    )
      continue;
    throw new DefinitionError(`continueAsNewAfter.${name} must be a whole number from ${least} to ${most}`);
  }
  return continueAsNewAfter;
}

/** Does nothing without a connection: the worker makes its own later. */
async function requireAttributes(
  connection: NativeConnection | undefined,
  namespace = 'default',
  names: AttributeNames,
): Promise<void> {
  if (connection === undefined) return;
  const missing = await missingSearchAttributes(connection, namespace, names).catch((error: unknown) => {
    // Temporal's time-skipping test server keeps no list of them: it cannot be asked, and takes them all the same.
    if (grpcStatusOf(error) === grpcStatus.UNIMPLEMENTED) return [];
    throw error;
  });
  if (missing.length === 0) return;
  throw new ProblemError({
    code: 'internal',
    message: `Namespace '${namespace}' lacks the search attributes ${missing.join(', ')}: run \`countersign setup\` once.`,
  });
}
