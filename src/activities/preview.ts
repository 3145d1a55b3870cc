import { ApplicationFailure, Context } from '@temporalio/activity';
import type { PreviewContext, Tool } from '../agents/definitions.ts';
import { type Registry, definitionOf } from '../agents/registry.ts';
import { validateArguments } from '../agents/define-tool.ts';
import type { Caller } from '../contract.ts';
import { type CallPreview, readChanges } from '../core/base/call-preview.ts';
import { fitChanges } from '../text/fit-changes.ts';
import { shortened } from '../core/base/text.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { aborted } from '../text/aborted.ts';

export interface PreviewInput {
  /** For readers of the history. */
  requestId: string;
  agent: string;
  caller?: Caller;
  tool: string;
  /** Of the tool, as the run recorded it. */
  definition: string;
  /** Nobody has approved them. */
  args: JsonObject;
}

/** Never `pending`. */
export type Preview = (input: PreviewInput) => Promise<CallPreview>;

const maxChangesBytes = 64_000;
const longestMessage = 300;

/**
 * The activity `countersign.preview`: what a call that waits for a reviewer would change. It calls the tool's `preview`
 * and never its `execute`. Whatever goes wrong in `preview` is a result, so that reviewers see it.
 */
export function createPreview(registry: Registry): Preview {
  return async ({ tool: name, definition, args, agent, caller }) => {
    const tool = registry.tool(name);
    // Retryable: during a rollout the next attempt may reach another worker.
    if (tool?.preview === undefined || definitionOf(tool).definition !== definition) {
      throw ApplicationFailure.retryable(`this worker has another tool '${name}' than the run recorded`);
    }
    const valid = await validateArguments(tool, args);
    if ('problem' in valid) return failed(valid.problem);
    const { cancellationSignal, info, log } = Context.current();
    const signal = AbortSignal.any([cancellationSignal, AbortSignal.timeout(tool.previewTimeoutMs!)]);
    const workflowId = info.workflowExecution?.workflowId ?? '';
    const preview = await changesOf(tool, args, { signal, workflowId, agent, caller, log });
    cancellationSignal.throwIfAborted();
    return preview;
  };
}

async function changesOf(tool: Tool, args: JsonObject, context: PreviewContext): Promise<CallPreview> {
  const { signal } = context;
  try {
    const asking = Promise.resolve().then(() => tool.preview!(args, context));
    const read = readChanges(await Promise.race([asking, aborted(signal)]));
    if ('problem' in read) return failed(read.problem);
    return { state: 'ready', ...fitChanges(read.changes, maxChangesBytes) };
  } catch (error) {
    if (signal.aborted) return failed(`it took longer than ${tool.previewTimeoutMs} ms`);
    return failed(error instanceof Error ? error.message : String(error));
  }
}

function failed(message: string): CallPreview {
  return { state: 'failed', message: shortened(message.replace(/\p{Surrogate}/gu, '\uFFFD'), longestMessage) };
}
