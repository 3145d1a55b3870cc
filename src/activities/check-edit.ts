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
  /** The values that reviewers saw as placeholders. Absent if they saw none: then text in that form is only text. */
  kept?: KeptValue[];
  /** What reviewers must not see of the arguments, by the run's policies. Absent: nothing is hidden. */
  redact?: RedactionSettings;
  /** The engine that rules in the run. Absent: unknown. */
  engine?: number;
  caller?: Caller;
}

/** The checked arguments, or why they cannot run. The sentence in `problem` names the argument. */
export type CheckEditResult = CheckedArguments | { problem: string };

export interface CheckedArguments extends ArgumentFacts {
  /** The arguments parsed by the tool's schema, with the original values in the place of placeholders. */
  args: JsonObject;
  /** True if this worker restores placeholders in edits. Older workers, which do not, leave the member out. */
  restored?: true;
}

export type CheckEdit = (input: CheckEditInput) => Promise<CheckEditResult>;

/** Returns the activity `countersign.checkEdit`, which checks edited arguments like arguments of the model (I9). */
export function createCheckEdit(
  registry: Registry,
  {
    assessors = [],
    gated = new Map(),
    ceiling,
  }: { assessors?: readonly Assessor[]; gated?: ReadonlyMap<string, GatedDefinition>; ceiling?: PresentCeiling } = {},
): CheckEdit {
  return async ({ agent, tool, args: written, kept, redact, engine, caller }) => {
    const restored = restore(written, kept, redact);
    if ('problem' in restored) return restored;
    const { args } = restored;
    const activity = gated.get(tool);
    const { called, checked } =
      activity === undefined
        ? await checkToolEdit(registry, { agent, tool, args, redact }, assessors)
        : { called: activity, checked: checkGatedEdit(activity, args, redact) };
    if (called === undefined || 'problem' in checked) return checked;
    const cannotStart = ceiling?.denial(called, checked.args, { agent, caller, engine });
    return cannotStart === undefined ? checked : { ...checked, cannotStart };
  };
}

/** Checks an edit like a call of the model. `called` is absent for nested runs and handoffs, which have no activity. */
async function checkToolEdit(
  registry: Registry,
  { agent, tool, args: edited, redact }: Pick<CheckEditInput, 'agent' | 'tool' | 'args' | 'redact'>,
  assessors: readonly Assessor[],
): Promise<{ called?: Called; checked: CheckEditResult }> {
  const found = await findTools(registry, [tool]);
  const { toolNamed } = found;
  const asModelCall = { id: 'edit', tool, arguments: JSON.stringify(edited) };
  const calls = await checkCalls({ calls: [asModelCall], finishReason: 'tool-calls' }, found);
  const { cancellationSignal: signal } = Context.current();
  const described = await describeCalls(calls, toolNamed);
  const [call] = await assessCalls(described, { toolNamed, assessors, agent, signal });
  // `checkCalls` writes for a model. The reviewer gets its sentence without the model's mark of an error.
  const problem = (call?.problem ?? 'Error: bad arguments').replace(/^Error: /, '');
  if (call?.args === undefined) return { checked: { problem } };
  const { shell, sentence, assessment, args } = call;
  const called = toolNamed(tool)!;
  const checked = { args, shell, sentence, assessment, ...redacted(args, called, redact) };
  return isActivity(called) ? { called, checked } : { checked };
}

/** Checks that the arguments of a gated activity have the declared names. There is no schema to check them by. */
function checkGatedEdit(
  activity: GatedDefinition,
  args: JsonObject,
  redact: RedactionSettings | undefined,
): CheckEditResult {
  const values = gatedValues(activity, args);
  return 'problem' in values ? values : { args, ...redacted(args, activity, redact) };
}

/** Returns the edit with the original values (`kept`), if there are any, in place of the placeholders for reviewers. */
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
