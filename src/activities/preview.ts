import { ApplicationFailure, Context } from '@temporalio/activity';
import type { PreviewContext, Tool } from '../agents/definitions.ts';
import { type Registry, definitionOf } from '../agents/registry.ts';
import { validateArguments } from '../agents/define-tool.ts';
import type { Caller } from '../contract.ts';
import { tableTotals } from '../card/card-change.ts';
import { boundFacts } from '../core/base/bound-preview.ts';
import { type CallPreview, type Change, readPreviewed } from '../core/base/call-preview.ts';
import { fitChanges } from '../text/fit-changes.ts';
import { shortened } from '../core/base/text.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { aborted } from '../text/aborted.ts';

export interface PreviewInput {
  /** Only for readers of the history. */
  requestId: string;
  agent: string;
  caller?: Caller;
  tool: string;
  definition: string;
  /** The arguments, which no reviewer has approved yet. */
  args: JsonObject;
}

/** The state of the result is never `pending`. */
export type Preview = (input: PreviewInput) => Promise<CallPreview>;

const maxChangesBytes = 64_000;
const longestMessage = 300;

/**
 * Returns the activity `countersign.preview`, which finds out what a waiting call would change. It calls the tool's
 * `preview`, never its `execute`. An error in `preview` becomes a failed preview, so that reviewers see it.
 */
export function createPreview(registry: Registry): Preview {
  return async ({ tool: name, definition, args, agent, caller }) => {
    const tool = registry.tool(name);
    // Fail retryably: during a rollout, the next attempt may reach a worker with the recorded tool.
    if (tool?.preview === undefined || definitionOf(tool).definition !== definition) {
      throw ApplicationFailure.retryable(`this worker has another tool '${name}' than the run recorded`);
    }
    const valid = await validateArguments(tool, args);
    if ('problem' in valid) return failed(valid.problem);
    const preview = await takePreview(tool, args, { agent, caller });
    Context.current().cancellationSignal.throwIfAborted();
    return preview;
  };
}

/** Calls a tool's `preview` with valid arguments, for at most its time-out. An error gives a failed preview. */
export function takePreview(
  tool: Tool,
  args: JsonObject,
  { agent, caller }: Pick<PreviewInput, 'agent' | 'caller'>,
): Promise<CallPreview> {
  const { cancellationSignal, info, log } = Context.current();
  const signal = AbortSignal.any([cancellationSignal, AbortSignal.timeout(tool.previewTimeoutMs!)]);
  const workflowId = info.workflowExecution?.workflowId ?? '';
  return changesOf(tool, args, { signal, workflowId, agent, caller, log });
}

/** Returns as many of the preview's changes as fit. If the tool has `bind`, adds the facts that an approval binds. */
async function changesOf(tool: Tool, args: JsonObject, context: PreviewContext): Promise<CallPreview> {
  const { signal } = context;
  try {
    const asking = Promise.resolve().then(() => tool.preview!(args, context));
    const read = readPreviewed(await Promise.race([asking, aborted(signal)]));
    if ('problem' in read) return failed(read.problem);
    const { changes, facts } = read;
    const fitted = fitChanges(changes, maxChangesBytes);
    if (tool.bind === undefined) return { state: 'ready', ...fitted };
    // An approval binds all changes, also those that do not fit into the preview.
    const bound = boundFacts(facts ?? changes, facts ?? factsOf(changes));
    return { state: 'ready', ...fitted, bound };
  } catch (error) {
    if (signal.aborted) return failed(`it took longer than ${tool.previewTimeoutMs} ms`);
    return failed(error instanceof Error ? error.message : String(error));
  }
}

function factsOf(changes: readonly Change[]): Record<string, string> {
  return Object.fromEntries(changes.map((change) => [change.name, sizeOf(change)]));
}

function sizeOf(change: Change): string {
  if (change.kind === 'table') return tableTotals(change.columns, change.rows).join('; ') || 'no rows';
  const [before, after] = [change.before, change.after].map(linesIn);
  if (before === undefined) return `new, ${after}`;
  return after === undefined ? `${before}, removed` : before === after ? before : `${before}, then ${after}`;
}

function linesIn(text: string | null): string | undefined {
  if (text === null) return undefined;
  const count = text.split('\n').length;
  return `${count} line${count === 1 ? '' : 's'}`;
}

function failed(message: string): CallPreview {
  return { state: 'failed', message: shortened(message.replace(/\p{Surrogate}/gu, '\uFFFD'), longestMessage) };
}
