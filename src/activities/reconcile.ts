import { ApplicationFailure, Context } from '@temporalio/activity';
import { validateArguments } from '../agents/define-tool.ts';
import { type Registry, definitionOf } from '../agents/registry.ts';
import { isObject } from '../core/base/json.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { aborted } from '../text/aborted.ts';
import { type CallIdentity, checkOf, givenResult, toolContext } from './call-tool.ts';

export interface ReconcileInput extends CallIdentity {
  tool: string;
  /** Of the tool, as the call was admitted. */
  definition: string;
  args: JsonObject;
}

/** `result`: as the model gets it. Absent: the tool does not know it. */
export type ReconciledCall = { ran: 'yes'; result?: Json } | { ran: 'no' | 'unknown' };

export type Reconcile = (input: ReconcileInput) => Promise<ReconciledCall>;

const longestMs = 30_000;

/**
 * The activity `countersign.reconcile`: asks a tool what became of a call whose outcome is unknown (I7). It calls the
 * tool's `reconcile` and never its `execute`. It is retried if that throws or takes too long; a result passes the
 * tool's check.
 */
export function createReconcile(registry: Registry, maxResultBytes = inlineLimits.resultBytes): Reconcile {
  return async ({ tool: name, definition, args, ...call }) => {
    const tool = registry.tool(name);
    // Retryable: during a rollout the next attempt may reach another worker.
    if (tool?.reconcile === undefined || definitionOf(tool).definition !== definition) {
      throw ApplicationFailure.retryable(`this worker has another tool '${name}' than the one that was called`);
    }
    const valid = await validateArguments(tool, args);
    if ('problem' in valid) return { ran: 'unknown' };
    const toTool = toolContext(Context.current(), call);
    const signal = AbortSignal.any([toTool.signal, AbortSignal.timeout(longestMs)]);
    const asking = Promise.resolve().then(() => tool.reconcile!(args, { ...toTool, signal }));
    const answer: unknown = await Promise.race([asking, aborted(signal)]);
    const ran = isObject(answer) ? answer['ran'] : undefined;
    if (ran === 'no' || ran === 'unknown') return { ran };
    if (ran !== 'yes') throw ApplicationFailure.nonRetryable(`tool '${name}': reconcile returned no { ran }`);
    const { result } = answer as { result?: unknown };
    if (result === undefined) return { ran };
    const check = checkOf(tool, args, toTool);
    return { ran, result: (await givenResult(tool, result, maxResultBytes, check)) as Json };
  };
}
