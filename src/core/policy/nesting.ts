import { byteLength } from '../base/text.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import type { Policy, PolicyLayers } from './policy.ts';
import type { Json } from '../base/tool-call.ts';

/** The most runs above a run. The limit ends the recursion of an agent that calls itself through another agent. */
export const maxNesting = 5;
/** The most nested runs of one turn. The server would stop a run that has 2,000 of them open. */
const maxNestedInTurn = 100;
/** The most bytes of policies that a nested run inherits: they have to fit into a payload beside its task. */
export const maxInheritedBytes = 1_000_000;
/** The server's limit for ids. With a longer id, a workflow task that starts a run would be retried for ever. */
const maxWorkflowIdBytes = 1_000;

export function nestedRunId(workflowId: string, callId: string): string {
  return `${workflowId}/${callId}`;
}

/**
 * Why a call of an agent cannot start a run, as a clause for the model. `depth`: the number of runs above the calling
 * one. `before`: the number of nested runs that this turn has started. `workflowId`: that of the nested run.
 */
export function nestingProblem(nested: { depth: number; before: number; workflowId: string }): string | undefined {
  const { depth, before, workflowId } = nested;
  if (depth >= maxNesting) return `agents may call agents ${maxNesting} deep at most: do it without this tool`;
  if (before >= maxNestedInTurn) return `one turn may call agents ${maxNestedInTurn} times at most: call fewer at once`;
  if (byteLength(workflowId) > maxWorkflowIdBytes) {
    return `the id of the nested run would pass ${maxWorkflowIdBytes} bytes: start this run under a shorter one`;
  }
  return undefined;
}

/** The inherited policies, except those equal to the worker's ceiling, which applies anyway and comes first. */
export function inheritedBeside(ceiling: Policy | undefined, policies: readonly Policy[]): Policy[] {
  const text = (policy: Policy): string => canonicalJson(policy as unknown as Json);
  return policies.filter((policy) => ceiling === undefined || text(policy) !== text(ceiling));
}

/** The policy that replaces those of a calling run if they cannot be read: it denies every call (I2). */
export const unreadableParent: Policy = {
  version: 1,
  rules: [{ pattern: '*', action: 'deny', reason: 'The policies of the calling run cannot be read' }],
  riskDefaults: {},
  approval: {},
};

/** The policies that a nested agent must not loosen, outermost first (I10); if none, the standard risk defaults. */
export function bindingPolicies({ ceiling, parents = [], run }: PolicyLayers): Policy[] {
  const all = [ceiling, ...parents, run].filter((policy) => policy !== undefined);
  return all.length > 0 ? all : [{ version: 1, rules: [], riskDefaults: {}, approval: {} }];
}
