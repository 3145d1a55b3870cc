/** Agents within agents: how far they go, and what binds them. */
import { byteLength } from '../base/byte-length.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import type { Policy, PolicyLayers } from './policy.ts';
import type { Json } from '../base/tool-call.ts';

/** Runs above a run, at most: an agent that calls itself through another ends here. */
export const maxNesting = 5;
/** Nested runs of one turn; the server would stop a run that has 2,000 of them open. */
const maxNestedInTurn = 100;
/** Beside the task, which is a model's and has its own limit, what binds a nested run must fit a payload. */
export const maxInheritedBytes = 1_000_000;
/** The server takes no longer id, and would repeat the task that starts one for ever. */
const maxWorkflowIdBytes = 1_000;

/** The workflow id of the run that a call of an agent starts: unique, and it names the runs above. */
export function nestedRunId(workflowId: string, callId: string): string {
  return `${workflowId}/${callId}`;
}

/**
 * Why a call of an agent cannot start a run, as the model is told; undefined if it can. `depth`: runs above the calling
 * one; `before`: those that its turn started before; `workflowId`: of the nested run.
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

/** What binds a nested run besides its worker's ceiling, which comes first anyway: that of the runs above may be the same. */
export function inheritedBeside(ceiling: Policy | undefined, policies: readonly Policy[]): Policy[] {
  const text = (policy: Policy): string => canonicalJson(policy as unknown as Json);
  return policies.filter((policy) => ceiling === undefined || text(policy) !== text(ceiling));
}

/**
 * What a nested agent must not be looser than: all that binds the one that calls it, outermost first (I10). Where
 * nothing does, the standard risk defaults do, which is what an empty policy says.
 */
export function bindingPolicies({ ceiling, parents = [], run }: PolicyLayers): Policy[] {
  const all = [ceiling, ...parents, run].filter((policy) => policy !== undefined);
  return all.length > 0 ? all : [{ version: 1, rules: [], riskDefaults: {}, approval: {} }];
}
