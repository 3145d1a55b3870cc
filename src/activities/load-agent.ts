import { ApplicationFailure } from '@temporalio/activity';
import { z } from 'zod';
import type { Registry } from '../agents/registry.ts';
import { definitionOf } from '../agents/registry.ts';
import type { RunInput } from '../contract.ts';
import { policyDigest } from '../core/digest.ts';
import { parsePolicy } from '../core/parse-policy.ts';
import { modes } from '../core/modes.ts';
import type { Policy } from '../core/policy.ts';
import type { ProblemCode } from '../core/problem.ts';
import type { RollOver, RunConfig } from '../core/run-config.ts';
import type { SizeLimits } from '../core/size-limits.ts';
import { mergeRunSide } from '../core/run-side.ts';

export type LoadAgent = (input: RunInput) => Promise<RunConfig>;

export interface LoadAgentOptions {
  registry: Registry;
  /** Parsed once, when the worker starts. */
  agentPolicies: ReadonlyMap<string, Policy>;
  ceiling: Policy | undefined;
  rollOver: RollOver;
  /** Absent: those of Temporal's own payloads. */
  sizeLimits?: SizeLimits;
}

const text = z.string().max(400_000);
const json = z.record(z.string(), z.json());
const message = z.union([
  z.strictObject({ role: z.literal('user'), content: text }),
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
const runInputShape = z.strictObject({
  agent: z.string().min(1).max(64),
  input: z.union([text, z.array(message).min(1).max(1_000)]),
  policy: json.optional(),
  caller: z
    .strictObject({ userId: z.string().min(1).max(200), groups: z.array(z.string().max(200)).max(100).optional() })
    .optional(),
  mode: z.enum(modes).optional(),
  metadata: json
    .refine((value) => JSON.stringify(value).length <= 4_000, 'at most 4,000 characters of JSON')
    .optional(),
});
const notYet = ['session'];

/**
 * Checks a run's input and fixes, for the whole run, what its agent is: tools, policies, limits (I12). The ceiling is
 * the worker's, so that whoever starts a run cannot choose it (I10).
 */
export function createLoadAgent({
  registry,
  agentPolicies,
  ceiling,
  rollOver,
  sizeLimits,
}: LoadAgentOptions): LoadAgent {
  return async (input) => {
    const { agent: name, policy: document, mode } = checkInput(input);
    const agent = registry.agent(name);
    if (agent === undefined) {
      const known = registry.agents.map((each) => `'${each.name}'`).join(', ') || 'none';
      throw refused('agent_unknown', `No agent '${name}' on this worker; it has: ${known}`);
    }
    const run = mergeRunSide(
      agentPolicies.get(agent.name),
      document === undefined ? undefined : runPolicy(document, ceiling),
      mode,
    );
    const policies = { ...(ceiling === undefined ? {} : { ceiling }), ...(run === undefined ? {} : { run }) };
    return {
      agent: agent.name,
      instructions: agent.instructions,
      tools: agent.tools.map(definitionOf),
      maxTurns: agent.maxTurns,
      ...policies,
      policyDigest: policyDigest(policies),
      rollOver,
      ...(sizeLimits === undefined ? {} : { sizeLimits }),
    };
  };
}

function checkInput(input: unknown): z.infer<typeof runInputShape> {
  const early = Object.keys(input ?? {}).find((key) => notYet.includes(key));
  if (early !== undefined) throw refused('arguments_invalid', `The run's '${early}' is not supported by this version`);
  const parsed = runInputShape.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const place = issue.path.length === 0 ? `The run's input` : `The run's '${issue.path.join('.')}'`;
  throw refused('arguments_invalid', `${place}: ${issue.message}`);
}

function runPolicy(document: object, ceiling: Policy | undefined): Policy {
  const parsed = parsePolicy(document, { maxTimeoutMs: ceiling?.approval.maxTimeoutMs });
  if ('policy' in parsed) return parsed.policy;
  const first = parsed.problems[0]!;
  const place = first.path === undefined || first.path === '' ? '' : ` at ${first.path}`;
  throw refused('policy_invalid', `The run's policy${place}: ${first.message}`);
}

function refused(type: ProblemCode, sentence: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(sentence, type);
}
