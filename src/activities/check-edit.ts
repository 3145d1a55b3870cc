import { Context } from '@temporalio/activity';
import type { Assessor } from '../agents/assessor.ts';
import type { Registry } from '../agents/registry.ts';
import type { Assessment } from '../core/assess/assessment.ts';
import type { GatedDefinition } from '../core/policy/gated-activity.ts';
import { gatedValues } from '../core/policy/gated-activity.ts';
import type { ShellSplit } from '../core/shell/parts.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { assessCalls } from './assess-calls.ts';
import { checkCalls } from './check-calls.ts';
import { describeCalls } from './describe-calls.ts';

export interface CheckEditInput {
  agent: string;
  tool: string;
  /** As the reviewer wrote them. */
  args: JsonObject;
}

/** `args`: parsed by the tool's schema. `problem`: why they cannot run, with the place. */
export type CheckEditResult =
  | { args: JsonObject; shell?: ShellSplit & { argument: string }; sentence?: string; assessment?: Assessment }
  | { problem: string };

export type CheckEdit = (input: CheckEditInput) => Promise<CheckEditResult>;

/** The activity `countersign.checkEdit`: edited arguments pass the same checks as a model's arguments (I9). */
export function createCheckEdit(
  registry: Registry,
  {
    assessors = [],
    gated = new Map(),
  }: { assessors?: readonly Assessor[]; gated?: ReadonlyMap<string, GatedDefinition> } = {},
): CheckEdit {
  return async ({ agent, tool, args }) => {
    const activity = gated.get(tool);
    if (activity !== undefined) return checkGatedEdit(activity, args);
    const toolNamed = (name: string) => registry.tool(name);
    const asked = { id: 'edit', tool, arguments: JSON.stringify(args) };
    const checked = await checkCalls({ calls: [asked], finishReason: 'tool-calls' }, toolNamed);
    const { cancellationSignal: signal } = Context.current();
    const described = await describeCalls(checked, toolNamed);
    const [call] = await assessCalls(described, { toolNamed, assessors, agent, signal });
    if (call?.args === undefined) return { problem: (call?.problem ?? 'Error: bad arguments').replace(/^Error: /, '') };
    const { shell, sentence, assessment } = call;
    return { args: call.args, shell, sentence, assessment };
  };
}

/** A gated activity has no schema: its arguments must be those that it was declared with. */
function checkGatedEdit(activity: GatedDefinition, args: JsonObject): CheckEditResult {
  const values = gatedValues(activity, args);
  return 'problem' in values ? values : { args };
}
