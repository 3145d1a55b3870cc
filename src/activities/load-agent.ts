import type { Revoked } from '../core/people/revoked.ts';
import type { PresentCeiling } from './present-ceiling.ts';
import { randomBytes } from 'node:crypto';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import type { Agent, Tool } from '../agents/definitions.ts';
import { recordedLimits } from '../agents/model-call.ts';
import { type Registry, definitionOf } from '../agents/registry.ts';
import type { RunInput } from '../contract.ts';
import { inputProblem, problemOfInput } from '../contract/input-problem.ts';
import { policyDigest, type Policy, type PolicyLayers } from '../core/policy/policy.ts';
import { modes } from '../core/policy/modes.ts';
import { inheritedBeside } from '../core/policy/nesting.ts';
import type { ChannelRoutes } from '../core/people/channel-routes.ts';
import type { ProblemCode } from '../core/base/problem.ts';
import type { AgentConfig, ContinueAsNewAfter, RunConfig } from '../core/policy/run-config.ts';
import { ceilingRedaction, type CeilingRedaction } from '../core/policy/redaction-settings.ts';
import type { AttributeNames } from '../core/base/attribute-names.ts';
import { filesProblem } from '../core/base/user-files.ts';
import { inlineLimits, type SizeLimits } from '../core/base/size-limits.ts';
import type { RuleLines } from '../core/policy/rule-place.ts';
import { mergeRunSide } from '../core/policy/run-side.ts';
import { engine } from '../core/policy/ruling.ts';
import { parentOfRun } from './parent-of-run.ts';
import { parseRunPolicy, hidingProblem } from '../policy-file/parse-run-policy.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

export type LoadAgent = (input: RunInput) => Promise<RunConfig>;

export interface LoadAgentOptions {
  registry: Registry;
  agentPolicies: ReadonlyMap<string, Policy>;
  ceiling: Policy | undefined;
  /** The line of each rule in the file of the ceiling. Absent if the ceiling was not read from a file. */
  ceilingLines?: RuleLines;
  continueAsNewAfter: ContinueAsNewAfter;
  /** The names of the inbox's search attributes, if they are not the default names. */
  attributes?: AttributeNames;
  /** The size limits of a run's payloads. Absent: those of Temporal itself. */
  sizeLimits?: SizeLimits;
  /** Reads the routes of requests to channels. Absent: the worker has no channels. */
  routes?: () => Promise<ChannelRoutes>;
}

/** Texts need no limit here: the run refuses an input of more than 512,000 bytes before. */
const text = z.string();
const json = z.record(z.string(), z.json());
const message = z.union([
  z.strictObject({
    role: z.literal('user'),
    content: text,
    files: z.unknown().optional(),
    messageId: z.string().max(200).optional(),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text,
    toolCalls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.json() })).optional(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    toolCallId: z.string(),
    toolName: z.string(),
    content: text,
    isError: z.boolean().optional(),
  }),
]);
export const callerShape = z.strictObject({
  userId: z.string().min(1).max(200),
  groups: z.array(z.string().max(200)).max(100).optional(),
});
const runInputShape = z.strictObject({
  agent: z.string().min(1).max(64),
  input: z.union([text, z.array(message).min(1)]),
  policy: json.optional(),
  caller: callerShape.optional(),
  mode: z.enum(modes).optional(),
  metadata: json
    .refine((value) => JSON.stringify(value).length <= 4_000, 'at most 4,000 characters of JSON')
    .optional(),
  session: z.literal(true).optional(),
  parent: parentOfRun.optional(),
});
/** The most bytes of a config, because continue-as-new carries the config together with the transcript. */
const maxConfigBytes = 1_000_000;

/**
 * Returns the activity `countersign.loadAgent`, which checks a run's input and returns the config of its agent. The
 * config applies for the whole run (I12). The ceiling is the worker's: the starter of a run cannot choose it (I10).
 */
export function createLoadAgent({
  registry,
  agentPolicies,
  ceiling,
  ceilingLines,
  continueAsNewAfter,
  attributes,
  sizeLimits,
  routes,
}: LoadAgentOptions): LoadAgent {
  return async (input) => {
    const { agent: name, input: given, policy: document, mode, session, parent } = checkInput(input);
    const agent = registry.agent(name);
    if (agent === undefined) {
      const known = registry.agents.map((each) => `'${each.name}'`).join(', ') || 'none';
      throw refused('agent_unknown', `No agent '${name}' on this worker; it has: ${known}`);
    }
    checkFiles(given, agent, (sizeLimits ?? inlineLimits).fileBytes);
    const inputPolicy = document === undefined ? undefined : runPolicy(document, ceiling);
    const parents = inheritedBeside(ceiling, parent?.policies ?? []);
    const above = { ceiling, ...(parents.length > 0 && { parents }) };
    const configOf = (each: Agent): Promise<AgentConfig> =>
      agentConfig(each, registry, { ...above, run: mergeRunSide(agentPolicies.get(each.name), inputPolicy, mode) });
    const [own, ...handoffs] = await Promise.all([agent, ...reachableFrom(agent, registry)].map(configOf));
    const config = {
      ...own!,
      ...above,
      ceilingLines,
      ...(handoffs.length > 0 && { handoffs }),
      engine,
      auditSalt: newAuditSalt(),
      continueAsNewAfter,
      attributes,
      ...(session === true && { userMayStop: true as const }),
      sizeLimits,
      routes: await routes?.(),
    };
    checkConfigSize(config);
    return config;
  };
}

/** Builds the config of one agent, with the tools that its toolsets list now. Logs toolsets that cannot be listed. */
async function agentConfig(agent: Agent, registry: Registry, policies: PolicyLayers): Promise<AgentConfig> {
  const { name, instructions, maxTurns, modelCall, files } = agent;
  const listed = await registry.toolsets.listAll(agent.toolsets);
  for (const problem of listed.problems) Context.current().log.warn(problem, { agent: name });
  return {
    agent: name,
    instructions: withUnavailable(instructions, listed.unavailable),
    tools: [...registry.toolsOf(agent), ...listed.tools].map(definitionOf),
    maxTurns,
    modelCall: modelCall && recordedLimits(modelCall),
    files,
    run: policies.run,
    policyDigest: policyDigest(policies),
  };
}

function checkConfigSize(config: RunConfig): void {
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes <= maxConfigBytes) return;
  const what = `Agent '${config.agent}', all it hands over to and their policies`;
  throw refused('too_large', `${what} have ${bytes} bytes of definitions; at most ${maxConfigBytes}`);
}

/** Adds a sentence about missing toolsets. Without it, the model would say that it never had these tools. */
function withUnavailable(instructions: string, toolsets: readonly string[]): string {
  if (toolsets.length === 0) return instructions;
  const names = toolsets.map((name) => `'${name}'`).join(', ');
  return `${instructions}\n\nNot available in this run: the tools of ${names}, which could not be listed when it started.`;
}

/** A new secret for one run, from which the salts of its journal are derived (docs/audit.md). */
export function newAuditSalt(): string {
  return randomBytes(32).toString('hex');
}

/** Returns the other agents to which a run of this agent can be handed over, directly or through others. */
function reachableFrom(first: Agent, registry: Registry): Agent[] {
  const found = new Set([first]);
  // The loop also visits agents that are added to the set during the loop.
  for (const agent of found) for (const { handoff } of registry.toolsOf(agent)) if (handoff) found.add(handoff);
  return [...found].slice(1);
}

/** Checks the input of a run against its shape. Throws the first problem, whose sentence names the place. */
function checkInput(input: unknown): RunInput {
  const parsed = runInputShape.safeParse(input);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    const place = issue.path.length === 0 ? `The run's input` : `The run's '${issue.path.join('.')}'`;
    throw refused('arguments_invalid', `${place}: ${issue.message}`);
  }
  const checked = parsed.data as RunInput;
  if (checked.session === true && checked.parent !== undefined) {
    throw refused('arguments_invalid', `A nested run cannot be a session: the run above it waits for its result`);
  }
  const problem = inputProblem(checked.input);
  if (problem !== undefined) throw refused(problem.code, problem.message);
  return checked;
}

/** Throws for the first file that the agent does not accept. */
function checkFiles(input: RunInput['input'], { name, files: taken }: Agent, fileBytes: number): void {
  if (typeof input === 'string') return;
  for (const [index, each] of input.entries()) {
    const files = each.role === 'user' ? each.files : undefined;
    const problem = files && filesProblem(files, name, taken, fileBytes);
    if (problem === undefined) continue;
    const { code, message } = problemOfInput(problem, index);
    throw refused(code, message);
  }
}

/** Parses the policy that a starter gave to a run. Throws `policy_invalid` for its first problem. */
export function runPolicy(document: object, ceiling: Policy | undefined): Policy {
  const { maxTimeoutMs } = ceiling?.approval ?? {};
  const read = readRunPolicy(document, {
    maxTimeoutMs,
    underCeiling: ceiling !== undefined,
    redaction: ceiling && ceilingRedaction(ceiling),
  });
  if ('policy' in read) return read.policy;
  const { path, message } = read.problem;
  throw refused('policy_invalid', `The run's policy${path === '' ? '' : ` at ${path}`}: ${message}`);
}

function refused(type: ProblemCode, sentence: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(sentence, type);
}

export interface FoundTools {
  toolNamed: (name: string) => Tool | undefined;
  /** Why a tool is not found, in one sentence for the model. Undefined: there is no such tool. */
  whyNot: (name: string) => string | undefined;
}

/** Finds only these tools. An earlier listing of a toolset is enough, because the second gate lists its tools again. */
export async function findTools(registry: Registry, names: readonly string[]): Promise<FoundTools> {
  const { toolsets } = registry;
  const wanted = new Set(names);
  const ofToolsets = [...wanted].filter((name) => toolsets.owns(name));
  const listed = new Map(
    await Promise.all(ofToolsets.map(async (name) => [name, await toolsets.find(name, { fresh: false })] as const)),
  );
  return {
    toolNamed: (name) => {
      const found = listed.get(name);
      if (found !== undefined) return 'tool' in found ? found.tool : undefined;
      return wanted.has(name) ? registry.tool(name) : undefined;
    },
    whyNot: (name) => {
      const found = listed.get(name);
      return found !== undefined && 'problem' in found ? found.problem : undefined;
    },
  };
}

export interface ReadPolicyInput {
  policy: JsonObject;
  /** The longest time-out that the run's ceiling allows; null permits `never`. */
  maxTimeoutMs?: number | null;
  /** True if the run has a ceiling. Then the policy must not hide arguments from reviewers. */
  underCeiling?: boolean;
  /** The built-in kinds that the ceiling redacts. Absent: the policy may redact any built-in kind. */
  redaction?: CeilingRedaction;
}

/** Returns the parsed policy, with what the operator's policy now revokes; or its first problem, with the place. */
export type ReadPolicy = (
  input: ReadPolicyInput,
) => Promise<{ policy: Policy; revoked?: Revoked } | { problem: string }>;

/** The activity `countersign.readPolicy`: parses a policy that was sent to a run. History records the result (I12). */
export function createReadPolicy({ revoked }: Pick<PresentCeiling, 'revoked'>): ReadPolicy {
  return async ({ policy: document, ...bounds }) => {
    const read = readRunPolicy(document, bounds);
    if ('policy' in read) return { ...read, revoked };
    const { path, message } = read.problem;
    return { problem: path === '' ? message : `${path}: ${message}` };
  };
}

/** Parses a run's policy, or returns its first problem. Under a ceiling, it must not hide more from reviewers. */
export function readRunPolicy(
  document: object,
  { maxTimeoutMs, underCeiling = false, redaction }: Omit<ReadPolicyInput, 'policy'>,
): { policy: Policy } | { problem: { path: string; message: string } } {
  const parsed = parseRunPolicy(document, { maxTimeoutMs });
  if ('problems' in parsed) return { problem: parsed.problems[0]! };
  const { policy } = parsed;
  const problem = underCeiling ? hidingProblem(policy, redaction) : undefined;
  return problem === undefined ? { policy } : { problem };
}
