/**
 * Worker side: joins agents, tools and policy with Temporal's worker. Executed, it runs the worker of
 * `countersign.config.ts` or `.js`, as `countersign worker` does.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LogLevel, WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { IllegalStateError } from '@temporalio/common';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  bundleWorkflowCode,
  makeTelemetryFilterString,
} from '@temporalio/worker';
import { arbitrate } from './activities/arbitrate.ts';
import { createCallModel } from './activities/call-model.ts';
import { callTool } from './activities/call-tool.ts';
import { createCheckEdit } from './activities/check-edit.ts';
import { createLoadAgent } from './activities/load-agent.ts';
import { notify } from './activities/notify.ts';
import { readPolicy } from './activities/read-policy.ts';
import { secondGate } from './activities/second-gate.ts';
import { checkAssessors, type Assessor } from './agents/assessor.ts';
import type { Agent } from './agents/define-agent.ts';
import type { Tool } from './agents/define-tool.ts';
import { DefinitionError } from './agents/definition-error.ts';
import { createRegistry } from './agents/registry.ts';
import { bundledPath, preloadedPaths } from './bundled-path.ts';
import type { ServerOptions } from './client/connection-settings.ts';
import { connectionSettings } from './client/connection-settings.ts';
import { missingSearchAttributes } from './client/search-attributes.ts';
import { grpcStatus, grpcStatusOf, translateServerError, unreachable } from './client/server-error.ts';
import { activityNames, defaultTaskQueue, workflowType } from './contract.ts';
import { formatProblems, parsePolicy } from './core/parse-policy.ts';
import type { ParsePolicyOptions } from './core/parse-policy.ts';
import type { Policy } from './core/policy.ts';
import { ProblemError } from './core/problem.ts';
import type { RollOver } from './core/run-config.ts';
import { inlineLimits, storedLimits } from './core/size-limits.ts';
import { leanBundle } from './lean-bundle.ts';
import { folderStorage, largePayloadsOf } from './payload-folder/large-payloads.ts';
import type { LargePayloads } from './payload-folder/large-payloads.ts';
import { unreadReferences } from './unread-references.ts';

export interface WorkerOptions extends ServerOptions {
  agents: readonly Agent[];
  /** Tools that no agent has, for workflows of one's own with a gate. */
  tools?: readonly Tool[];
  /** The operator's ceiling: a policy document, its text, or the path of a `.yaml`, `.yml` or `.json` file. */
  policy?: string | object;
  /** Functions that say how bad a call would be, beside the built-in assessors and the policy's `assess:` rules. */
  assessors?: readonly Assessor[];
  /** Default `countersign`. */
  taskQueue?: string;
  /** Workflow types beside `agentRun` whose calls may run tools here (I1). */
  workflowTypes?: readonly string[];
  /** When runs continue as new; recorded in each run at its start. */
  rollOver?: Partial<RollOver>;
  /** Workflows of one's own: a module that exports them and `agentRun`. Default: `agentRun` alone. */
  workflowsPath?: string;
  /** What `bundleWorkflows` returned, to spare each worker the bundling. */
  workflowBundle?: { code: string } | { codePath: string };
  /** Runs kept in memory; 0 makes every step replay, which tests use. Default: Temporal's. */
  maxCachedWorkflows?: number;
  /** Tools and model calls at a time. Default: Temporal's, 100. */
  maxConcurrentActivities?: number;
  /** What Temporal's SDK writes to standard error; the first worker of a process decides. Default `WARN`. */
  logLevel?: LogLevel;
  /**
   * A folder for payloads that are too large for Temporal's server; all workers of the task queue and all clients of
   * its runs share it (docs/operations.md). Default: `COUNTERSIGN_PAYLOAD_FOLDER`; `false`: none, whatever it says.
   */
  largePayloads?: LargePayloads | false;
  /** How long a worker that shuts down waits for running tools, in milliseconds. Default 10 seconds. */
  shutdownGraceMs?: number;
}

export interface CountersignWorker {
  /** Works until `shutdown`; settles when all that ran has ended. */
  run(): Promise<void>;
  shutdown(): void;
}

const defaultRollOver: RollOver = { historyEvents: 8_000, updates: 1_500 };
/** Below, a link would continue as new before it got anything done; above, Temporal ends the run. */
const rollOverBounds = { historyEvents: [20, 40_000], updates: [10, 1_900] } as const;

/**
 * Makes a worker for these agents. Refuses to start, in one sentence, when the policy does not load
 * (`policy_invalid`, with line and column), the server does not answer (`server_unreachable`), or the cluster lacks
 * the search attributes of the inbox (`internal`, naming `countersign setup`).
 */
export async function createWorker(options: WorkerOptions): Promise<CountersignWorker> {
  const registry = createRegistry({ agents: options.agents, tools: options.tools });
  checkAssessors(options.assessors ?? []);
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
  const rollOver = checkRollOver({ ...defaultRollOver, ...options.rollOver });
  const largePayloads = largePayloadsOf(options.largePayloads);
  const sizeLimits = largePayloads === undefined ? inlineLimits : storedLimits;
  installLogger(options.logLevel ?? 'WARN');
  const { namespace, ...settings } = connectionSettings(options);
  const connection = await connectNative(settings, namespace);
  try {
    await requireAttributes(connection, namespace);
    const externalStorage =
      largePayloads === undefined ? unreadReferences : await folderStorage(largePayloads, namespace, 'retry');
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: options.taskQueue ?? defaultTaskQueue,
      ...(options.workflowBundle === undefined
        ? {
            workflowsPath: options.workflowsPath ?? bundledPath('index'),
            bundlerOptions: { webpackConfigHook: leanBundle, preloadModules: preloadedPaths },
          }
        : { workflowBundle: options.workflowBundle }),
      dataConverter: { payloadConverterPath: bundledPath('payload-converter'), externalStorage },
      activities: {
        ...Object.fromEntries(
          registry.tools.filter(isActivity).map((tool) => [tool.name, callTool(tool, sizeLimits.resultBytes)]),
        ),
        [activityNames.loadAgent]: createLoadAgent({
          registry,
          agentPolicies,
          ceiling,
          rollOver,
          ...(largePayloads === undefined ? {} : { sizeLimits }),
        }),
        [activityNames.callModel]: createCallModel(registry, {
          assessors: options.assessors ?? [],
          ...(largePayloads === undefined ? {} : { thresholdBytes: largePayloads.thresholdBytes }),
        }),
        [activityNames.arbitrate]: arbitrate,
        [activityNames.checkEdit]: createCheckEdit(registry, { assessors: options.assessors ?? [] }),
        [activityNames.readPolicy]: readPolicy,
        [activityNames.notify]: notify,
      },
      interceptors: {
        // A bundle made by `bundleWorkflows` holds ours already.
        ...(options.workflowBundle === undefined ? { workflowModules: [bundledPath('activation')] } : {}),
        activity: [
          () => ({
            inbound: secondGate({ registry, workflowTypes: [workflowType, ...(options.workflowTypes ?? [])], ceiling }),
          }),
        ],
      },
      // At Temporal's default a killed worker delays every decision by ten seconds.
      stickyQueueScheduleToStartTimeout: '2s',
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

/** A call of an agent is a run, and a handoff is a step of its own. */
function isActivity({ agent, handoff }: Tool): boolean {
  return agent === undefined && handoff === undefined;
}

/** Bundles the workflows of this package, or of a module of one's own that exports them and `agentRun`. */
export function bundleWorkflows(workflowsPath = bundledPath('index')): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath: bundledPath('payload-converter'),
    workflowInterceptorModules: [bundledPath('activation')],
    webpackConfigHook: leanBundle,
    preloadModules: preloadedPaths,
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

function checkRollOver(rollOver: RollOver): RollOver {
  for (const name of ['historyEvents', 'updates'] as const) {
    const [least, most] = rollOverBounds[name];
    if (Number.isInteger(rollOver[name]) && rollOver[name] >= least && rollOver[name] <= most) continue;
    throw new DefinitionError(`createWorker: rollOver.${name} must be a whole number from ${least} to ${most}`);
  }
  return rollOver;
}

/** Reads a policy from where it was given. A one-line string that ends in `.yaml`, `.yml` or `.json` is a path. */
function loadPolicy(source: string | object, what: string, options: Omit<ParsePolicyOptions, 'file'>): Policy {
  const isPath = typeof source === 'string' && /^[^\n]+\.(ya?ml|json)$/.test(source);
  if (isPath && !existsSync(source)) {
    throw new ProblemError({ code: 'policy_invalid', message: `${what}: no file ${resolve(source)}` });
  }
  const file = isPath ? source : what;
  const parsed = parsePolicy(isPath ? readFileSync(source, 'utf8') : source, { ...options, file });
  if ('policy' in parsed) return parsed.policy;
  throw new ProblemError({ code: 'policy_invalid', message: formatProblems(file, parsed.problems) });
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

async function requireAttributes(connection: NativeConnection, namespace: string): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace).catch((error: unknown) => {
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.argv.splice(2, 0, 'worker');
  // Not awaited: the command imports this module, which must have been evaluated by then.
  void import('./adapters/cli/main.ts');
}
