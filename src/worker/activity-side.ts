import { isDeepStrictEqual } from 'node:util';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { checkOptions, DefinitionError } from '../agents/check-options.ts';
import { arbitrate } from '../activities/recorded-events.ts';
import { createCallModel } from '../activities/call-model.ts';
import { callTool, callToolsetTool, createReconcile } from '../activities/call-tool.ts';
import { createCheckEdit } from '../activities/check-edit.ts';
import { createConsultAdvisors } from '../activities/consult-advisors.ts';
import { createDelegateOpen } from '../activities/delegate-open.ts';
import { createLoadAgent, createReadPolicy } from '../activities/load-agent.ts';
import { createLoadGate } from '../activities/load-gate.ts';
import { createNotify } from '../activities/announce.ts';
import { createCheckApprovers, presentCeiling } from '../activities/present-ceiling.ts';
import { createPreview } from '../activities/preview.ts';
import { readParents } from '../activities/parent-of-run.ts';
import { secondGate } from '../activities/second-gate.ts';
import { payloadConverter } from './payload-converter.ts';
import { verifyCarried } from '../activities/verify-carried.ts';
import { checkAdvisors, checkAssessors } from '../agents/advisor.ts';
import { checkGated, ungatedWindows } from '../agents/check-gated.ts';
import { knownNames, createRegistry, isActivity } from '../agents/registry.ts';
import { activityNames, workflowType } from '../contract.ts';
import { type AttributeNames, defaultAttributeNames } from '../core/base/attribute-names.ts';
import { jsonDigest } from '../core/base/digest.ts';
import { inlineLimits, storedLimits } from '../core/base/size-limits.ts';
import type { Json } from '../core/base/tool-call.ts';
import { lintChannels, lintLateSteps } from '../policy-file/lint-channels.ts';
import { lintNames, type PolicyWarning } from '../policy-file/lint-names.ts';
import { lintProtection } from '../policy-file/lint-policy.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { ContinueAsNewAfter } from '../core/policy/run-config.ts';
import { channelActivities, sessionOfWorker } from '../channels/activities/channel-activities.ts';
import { WaitingAnswers } from '../channels/activities/waiting-answers.ts';
import { channelSetOf, knownChannelsOf } from '../channels/channel-set.ts';
import { warnOfUnreached } from '../channels/try-channels.ts';
import type { LargePayloads } from '../payload-folder/large-payloads.ts';
import type { PluginOptions, WorkerOptions } from './worker-options.ts';
import { decodeUtf8 } from '../policy-file/text.ts';
import type { ParsedPolicy, ParsePolicyOptions, PolicyProblem } from '../policy-file/parse-policy.ts';
import { formatProblems, parsePolicy } from '../policy-file/parse-policy.ts';
import type { RuleLines } from '../core/policy/rule-place.ts';
import { ProblemError } from '../core/base/problem.ts';
import { readFault } from '../text/read-fault.ts';

const defaultContinueAsNewAfter: ContinueAsNewAfter = { historyEvents: 8_000, updates: 1_500 };
/** The least and the most that an option may set: with less, a run makes no progress; with more, Temporal ends it. */
const continueAsNewBounds = { historyEvents: [20, 40_000], updates: [10, 1_900] } as const;

export interface ActivitySide {
  activities: Record<string, unknown>;
  inbound: ActivityInboundCallsInterceptor;
  /** The digest of the operator's policy; absent without a policy. */
  policyDigest?: string;
  /** Names in policies that this worker does not have, and rules that cannot take effect, one sentence each. */
  policyWarnings: string[];
  /** Warns of channels that cannot send. Never rejects. */
  warnOfUnreached: (signal: AbortSignal, warn: (sentence: string) => void) => Promise<void>;
  /** Closes the toolsets, before the worker's connection closes. Returns one sentence for each that failed to close. */
  stop: () => Promise<string[]>;
}

/** Makes the activities, and the interceptor that checks permits. Throws `DefinitionError` or `policy_invalid`. */
export function activitySide(
  options: PluginOptions,
  names: AttributeNames,
  largePayloads: Required<LargePayloads> | undefined,
): ActivitySide {
  const registry = createRegistry({ agents: options.agents ?? [], tools: options.tools });
  const gated = checkGated(options.gated ?? {});
  const { assessors = [], advisors = {}, workflowTypes = [] } = options;
  const trusted = [workflowType, ...workflowTypes];
  const waiting = new WaitingAnswers();
  checkAssessors(assessors);
  checkAdvisors(advisors);
  for (const { name } of registry.tools) {
    if (gated.has(name)) throw new DefinitionError(`'${name}' is a tool and a gated activity; rename one`);
  }
  for (const name of gated.keys()) {
    if (registry.toolsets.owns(name)) throw new DefinitionError(`gated '${name}' belongs to a toolset; rename one`);
  }
  if (gated.size > 0 && workflowTypes.length === 0) {
    throw new DefinitionError(
      `gated needs workflowTypes, without which every call of ${[...gated.keys()].map((name) => `'${name}'`).join(', ')} is refused: name the workflow types whose gate admits these calls, such as workflowTypes: ['returnOrder']`,
    );
  }
  const { policy: ceiling, ruleLines: ceilingLines } =
    options.policy === undefined ? {} : loadPolicy(options.policy, `the worker's policy`, { ceiling: true });
  const { maxTimeoutMs } = ceiling?.approval ?? {};
  const agentPolicies = new Map<string, Policy>();
  for (const { name, policy } of registry.agents) {
    if (policy === undefined) continue;
    agentPolicies.set(name, loadPolicy(policy, `the policy of agent '${name}'`, { maxTimeoutMs }).policy);
  }
  const continueAsNewAfter = checkContinueAsNewAfter(options.continueAsNewAfter);
  const attributes = isDeepStrictEqual(names, defaultAttributeNames) ? undefined : names;
  const sizeLimits = largePayloads === undefined ? inlineLimits : storedLimits;
  const ungated = ungatedWindows(options.gated ?? {});
  const present = presentCeiling(ceiling, ungated.size > 0);
  const checkEdit = createCheckEdit(registry, { gated, assessors, ceiling: present });
  const channels = channelSetOf(options);
  const { routes } = channels ?? {};
  const loading = { agentPolicies, ceiling, ceilingLines, continueAsNewAfter, attributes, routes };
  const activities = {
    ...Object.fromEntries(
      registry.tools.filter(isActivity).map((tool) => [tool.name, callTool(tool, sizeLimits.resultBytes)]),
    ),
    // Temporal calls `default` for all other names. The names of a toolset's tools are known only when it is used.
    ...(registry.toolsets.prefixes.length > 0 && {
      default: callToolsetTool(registry.toolsets, sizeLimits.resultBytes),
    }),
    [activityNames.loadAgent]: createLoadAgent({ ...loading, registry, sizeLimits: largePayloads && sizeLimits }),
    [activityNames.loadGate]: createLoadGate({ ...loading, gated }),
    [activityNames.callModel]: createCallModel(registry, {
      assessors,
      ceiling: present,
      thresholdBytes: largePayloads?.thresholdBytes,
    }),
    [activityNames.arbitrate]: arbitrate,
    [activityNames.checkEdit]: checkEdit,
    [activityNames.readPolicy]: createReadPolicy(present),
    [activityNames.readParents]: readParents,
    [activityNames.notify]: createNotify({ hasChannels: channels !== undefined }),
    ...channelActivities(channels, { attributes: names, workflowTypes: trusted, waiting }),
    [activityNames.delegateOpen]: createDelegateOpen(() => sessionOfWorker(names)),
    [activityNames.verifyCarried]: verifyCarried,
    [activityNames.checkApprovers]: createCheckApprovers(present),
    [activityNames.preview]: createPreview(registry),
    [activityNames.reconcile]: createReconcile(registry, sizeLimits.resultBytes),
    [activityNames.consultAdvisors]: createConsultAdvisors(advisors),
  };
  const inbound = secondGate({
    registry,
    gated,
    ungated,
    workflowTypes: trusted,
    ceiling: present,
    checkEdit,
    payloadConverter,
  });
  const known = { ...knownNames(registry, gated), advisors: Object.keys(advisors) };
  const carried = knownChannelsOf(channels);
  const directories = ceiling?.directory === undefined ? [] : [ceiling.directory];
  const mistakesIn = (policy: Policy, owner: 'ceiling' | 'agent'): PolicyWarning[] => [
    ...lintProtection(policy, owner),
    ...lintNames(policy, owner, known),
    ...lintChannels(policy, owner, carried, directories),
    ...lintLateSteps(policy, owner, ceiling),
  ];
  const policyWarnings = [
    ...(ceiling === undefined ? [] : warningSentences(`the worker's policy`, mistakesIn(ceiling, 'ceiling'))),
    ...[...agentPolicies].flatMap(([name, policy]) =>
      warningSentences(`the policy of agent '${name}'`, mistakesIn(policy, 'agent')),
    ),
  ];
  const digest = ceiling && { policyDigest: jsonDigest(ceiling as unknown as Json) };
  const stop = async (): Promise<string[]> => {
    const [, problems] = await Promise.all([waiting.stop(), registry.toolsets.close()]);
    return problems;
  };
  return {
    activities,
    inbound,
    ...digest,
    policyWarnings,
    warnOfUnreached: warnOfUnreached.bind(undefined, channels),
    stop,
  };
}

function warningSentences(whose: string, warnings: readonly PolicyWarning[]): string[] {
  return warnings.map(({ message }) => `${whose}: ${message}`);
}

/** Returns the limits with their defaults. Throws a `DefinitionError` for one outside `continueAsNewBounds`. */
function checkContinueAsNewAfter(given: Partial<ContinueAsNewAfter> = {}): ContinueAsNewAfter {
  checkOptions('continueAsNewAfter', given, { historyEvents: true, updates: true });
  const continueAsNewAfter = { ...defaultContinueAsNewAfter, ...given };
  for (const name of ['historyEvents', 'updates'] as const) {
    const [least, most] = continueAsNewBounds[name];
    const value = continueAsNewAfter[name];
    if (Number.isInteger(value) && value >= least && value <= most) continue;
    throw new DefinitionError(`continueAsNewAfter.${name} must be a whole number from ${least} to ${most}`);
  }
  return continueAsNewAfter;
}

const policyPath = /^[^\n]+\.(ya?ml|json)$/;

/**
 * Reads a policy: a document, its text, or a file, which is a string of one line that ends in `.yaml`, `.yml` or
 * `.json`. For a file, also returns the lines of the rules. Throws `policy_invalid` with every problem and its place.
 */
export function loadPolicy(
  source: string | object,
  nameInProblems: string,
  options: Omit<ParsePolicyOptions, 'file'>,
): { policy: Policy; ruleLines?: RuleLines } {
  if (typeof source !== 'string' || !policyPath.test(source)) {
    return { policy: parseOrThrow(source, { ...options, file: nameInProblems }).policy };
  }
  const decoded = decodeUtf8(readPolicyBytes(source, nameInProblems));
  if (!('text' in decoded)) throw invalidPolicy(source, [{ ...decoded, file: source, path: '' }]);
  const { policy, lines } = parseOrThrow(decoded.text, { ...options, file: source });
  return lines === undefined ? { policy } : { policy, ruleLines: { file: basename(source), lines } };
}

function readPolicyBytes(path: string, nameInProblems: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const fault = isMissing ? `no file ${resolve(path)}` : `${resolve(path)} cannot be read: ${readFault(error)}`;
    throw new ProblemError({ code: 'policy_invalid', message: `${nameInProblems}: ${fault}` });
  }
}

function parseOrThrow(source: string | object, options: ParsePolicyOptions & { file: string }): ParsedPolicy {
  const parsed = parsePolicy(source, options);
  if ('problems' in parsed) throw invalidPolicy(options.file, parsed.problems);
  return parsed;
}

function invalidPolicy(file: string, problems: PolicyProblem[]): ProblemError {
  return new ProblemError({ code: 'policy_invalid', message: formatProblems(file, problems) });
}

/** The agents that a worker's options name, and its policy, with the lines of the rules if the policy is a file. */
export interface DeclaredWorker {
  agents: string[];
  policy?: Policy;
  ruleLines?: RuleLines;
}

/** Reads the agents and the policy from the options of a worker. Throws for invalid ones, as the worker does. */
export function declaredBy({
  agents = [],
  tools,
  policy,
}: Pick<WorkerOptions, 'agents' | 'tools' | 'policy'>): DeclaredWorker {
  return {
    agents: createRegistry({ agents, tools }).agents.map(({ name }) => name),
    ...(policy !== undefined && loadPolicy(policy, `the worker's policy`, { ceiling: true })),
  };
}
