import { ApplicationFailure } from '@temporalio/activity';
import { z } from 'zod';
import { policyDigest } from '../core/policy/policy.ts';
import type { GateConfig, RequestedGateConfig } from '../core/policy/gate-config.ts';
import { type GatedDefinition, gatedActivityOptions, withDeclaredRisk } from '../core/policy/gated-activity.ts';
import type { ContextCarrier } from '../core/ledger/recorded-context.ts';
import { modes } from '../core/policy/modes.ts';
import { engine } from '../core/policy/ruling.ts';
import { mergeRunSide } from '../core/policy/run-side.ts';
import { type LoadAgentOptions, callerShape, newAuditSalt, runPolicy } from './load-agent.ts';
import { optionProblem } from '../text/check-call-options.ts';
import { nfc } from '../core/base/text.ts';

export type LoadGate = (requested: RequestedGateConfig, carrier?: ContextCarrier) => Promise<GateConfig>;

export interface LoadGateOptions extends Pick<
  LoadAgentOptions,
  'agentPolicies' | 'ceiling' | 'ceilingLines' | 'continueAsNewAfter' | 'attributes' | 'routes'
> {
  gated: ReadonlyMap<string, GatedDefinition>;
}

const requestedShape = z.strictObject({
  // Policies have agent names in Unicode form NFC, so compare in this form.
  agent: z
    .string()
    .min(1)
    .max(64)
    .transform((name) => nfc(name)),
  policy: z.record(z.string(), z.json()).optional(),
  mode: z.enum(modes).optional(),
  // `written` lists the names of the options in the author's code. It is absent if the workflow does not report them.
  gated: z.array(z.looseObject({ name: z.string(), written: z.array(z.string()).optional() })),
  written: z.array(z.string()).optional(),
});

const contextShape = z.looseObject({
  caller: callerShape.optional(),
  metadata: z.record(z.string(), z.json()).optional(),
});

const gateOptions = ['refuseUnknownSignals'];

/** The options of `ApprovalGate.load`, and the two members that the gate adds: `gated` and `written`. */
const optionNames = ['agent', 'policy', 'mode', 'caller', 'metadata', 'gated', 'written'];

/**
 * Returns the activity `countersign.loadGate`, which returns the config of a custom workflow for its whole life (I12).
 * The ceiling and the declarations in the config are the worker's: the workflow cannot choose them (I10).
 */
export function createLoadGate({
  agentPolicies,
  ceiling,
  ceilingLines,
  continueAsNewAfter,
  gated,
  attributes,
  routes,
}: LoadGateOptions): LoadGate {
  return async (requested, carrier) => {
    const misuse = optionProblem(requested, optionNames, `known are agent, policy, mode, caller, metadata`);
    if (misuse !== undefined) throw refused('arguments_invalid', `gate.load: ${misuse}`);
    const { agent, policy, mode, written, gated: declarations } = parsedBy(requestedShape, requested);
    requireNames('ApprovalGate', written, gateOptions);
    for (const each of declarations) requireNames(`gate.guard: '${each.name}'`, each.written, gatedActivityOptions);
    if (carrier !== undefined) parsedBy(contextShape, carrier.context);
    const recorded = requested.gated.map((declared) => recordedOf(declared, gated.get(declared.name)));
    const run = mergeRunSide(
      agentPolicies.get(agent),
      policy === undefined ? undefined : runPolicy(policy, ceiling),
      mode,
    );
    const digest = policyDigest({ ceiling, run });
    const policies = { ceiling, ceilingLines, run, policyDigest: digest, engine };
    const limits = { continueAsNewAfter, gated: recorded, attributes, routes: await routes?.() };
    return { agent, ...policies, ...limits, auditSalt: newAuditSalt() };
  };
}

function requireNames(place: string, written: readonly string[] = [], known: readonly string[]): void {
  const problem = optionProblem(Object.fromEntries(written.map((name) => [name, true])), known);
  if (problem !== undefined) throw refused('arguments_invalid', `${place}: ${problem}`);
}

/** Returns the worker's declaration, with the greater of both declared risks. Throws if the worker has none. */
function recordedOf(declared: GatedDefinition, own: GatedDefinition | undefined): GatedDefinition {
  if (own === undefined) {
    throw refused(
      'internal',
      `Activity '${declared.name}' is gated in the workflow and not on its worker: name it in 'gated' there`,
    );
  }
  return withDeclaredRisk(own, declared);
}

function parsedBy<Value>(shape: z.ZodType<Value>, value: unknown): Value {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw refused('arguments_invalid', `gate.load: ${path.join('.') || 'the options'}: ${message}`);
}

function refused(type: 'arguments_invalid' | 'internal', sentence: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(sentence, type);
}
