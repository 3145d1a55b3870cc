import { Context } from '@temporalio/activity';
import type { Assessor } from '../agents/advisor.ts';
import { isActivity, type Registry } from '../agents/registry.ts';
import type { Caller } from '../contract.ts';
import type { ArgumentFacts } from '../core/assess/argument-facts.ts';
import { type GatedDefinition, gatedValues } from '../core/policy/gated-activity.ts';
import type { RedactionSettings } from '../core/redact/redaction.ts';
import type { KeptValue } from '../core/redact/kept-values.ts';
import { restorePlaceholders } from '../redact/restore-placeholders.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { assessCalls } from './assess-calls.ts';
import { checkCalls, describeCalls } from './check-calls.ts';
import { findTools } from './load-agent.ts';
import type { Called, PresentCeiling } from './present-ceiling.ts';
import { redactCall } from './redact-calls.ts';

export interface CheckEditInput {
  agent: string;
  tool: string;
  args: JsonObject;
  /** The placeholders that reviewers were shown. Absent: text in the form of a placeholder is ordinary text. */
  kept?: KeptValue[];
  /** What reviewers must not see of the arguments, by the run's policies. Absent: nothing is hidden. */
  redact?: RedactionSettings;
  /** The engine that rules in the run. Absent: unknown. */
  engine?: number;
  caller?: Caller;
}

/** `problem`: why the arguments cannot run, with the place. */
export type CheckEditResult = CheckedArguments | { problem: string };

export interface CheckedArguments extends ArgumentFacts {
  /** The arguments parsed by the tool's schema, with the original values in the place of placeholders. */
  args: JsonObject;
  /** True: placeholders in the edit were replaced by their original values, if there were any. */
  restored?: true;
}

export type CheckEdit = (input: CheckEditInput) => Promise<CheckEditResult>;

/** The activity `countersign.checkEdit`: edited arguments pass the same checks as a model's arguments (I9). */
export function createCheckEdit(
  registry: Registry,
  {
    assessors = [],
    gated = new Map(),
    ceiling,
  }: { assessors?: readonly Assessor[]; gated?: ReadonlyMap<string, GatedDefinition>; ceiling?: PresentCeiling } = {},
): CheckEdit {
  return async ({ agent, tool, args: written, kept, redact, engine, caller }) => {
    const startable = (called: Called, checked: CheckedArguments): CheckedArguments => {
      const cannotStart = ceiling?.denial(called, checked.args, { agent, caller, engine });
      return cannotStart === undefined ? checked : { ...checked, cannotStart };
    };
    const restored = restore(written, kept, redact);
    if ('problem' in restored) return restored;
    const activity = gated.get(tool);
    if (activity !== undefined) {
      const checked = checkGatedEdit(activity, restored.args, redact);
      return 'problem' in checked ? checked : startable(activity, checked);
    }
    const found = await findTools(registry, [tool]);
    const { toolNamed } = found;
    const asked = { id: 'edit', tool, arguments: JSON.stringify(restored.args) };
    const checked = await checkCalls({ calls: [asked], finishReason: 'tool-calls' }, found);
    const { cancellationSignal: signal } = Context.current();
    const described = await describeCalls(checked, toolNamed);
    const [call] = await assessCalls(described, { toolNamed, assessors, agent, signal });
    if (call?.args === undefined) return { problem: (call?.problem ?? 'Error: bad arguments').replace(/^Error: /, '') };
    const { shell, sentence, assessment, args } = call;
    const edited = { args, shell, sentence, assessment, ...redacted(args, toolNamed(tool), redact) };
    const called = toolNamed(tool)!;
    return isActivity(called) ? startable(called, edited) : edited;
  };
}

/** A gated activity has no schema, so its arguments only have to have the declared names. */
function checkGatedEdit(
  activity: GatedDefinition,
  args: JsonObject,
  redact: RedactionSettings | undefined,
): CheckEditResult {
  const values = gatedValues(activity, args);
  return 'problem' in values ? values : { args, ...redacted(args, activity, redact) };
}

/** The edit with the original values in place of the placeholders that reviewers were shown. */
function restore(
  args: JsonObject,
  kept: readonly KeptValue[] | undefined,
  redact: RedactionSettings | undefined,
): { args: JsonObject } | { problem: string } {
  if (kept === undefined) return { args };
  return restorePlaceholders(
    args,
    kept,
    redact?.patterns.map(({ name }) => name),
  );
}

function redacted(
  args: JsonObject,
  tool: Parameters<typeof redactCall>[1],
  redact: RedactionSettings | undefined,
): Pick<CheckedArguments, 'redaction' | 'restored'> {
  return { restored: true, ...(redact !== undefined && { redaction: redactCall(args, tool, redact) }) };
}
