/** Agents, tools and toolsets are declared in one file, because an agent has tools and a tool may call an agent. */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Logger } from '@temporalio/common';
import type { Caller, Message } from '../contract.ts';
import type { Previewed } from '../core/base/call-preview.ts';
import type { cacheScopes, Json, JsonObject, Risk } from '../core/base/tool-call.ts';
import type { TakenFiles } from '../core/base/user-files.ts';
import type { ModelCallOptions } from './model-call.ts';
import type { ToolSchema } from './tool-schema.ts';

export const agentMark = Symbol.for('countersign.agent');

/** The result of `defineAgent`. Its members are the options, with their defaults. */
export interface Agent {
  readonly [agentMark]: true;
  readonly name: string;
  readonly instructions: string;
  readonly model: LanguageModelV4;
  readonly description?: string;
  readonly tools: readonly Tool[];
  readonly toolsets: readonly Toolset[];
  /** Returns the agents that can take over a run. The worker checks them when it is created. */
  readonly handoffs: () => readonly Agent[];
  readonly policy?: string | object;
  readonly maxTurns: number;
  readonly modelCall?: Readonly<ModelCallOptions>;
  readonly files?: TakenFiles;
  readonly output?: ToolSchema;
  /** The JSON Schema of `output`, as the model receives it. */
  readonly outputSchema?: JsonObject;
  checkInput?(messages: Message[], context: CheckContext): Verdict;
}

/** The second argument of a tool's `execute`. */
export interface ToolContext {
  /** Aborted when the run is cancelled or the worker shuts down. Pass it on to every operation that the tool awaits. */
  signal: AbortSignal;
  /** The run id of the first execution, and the call id. All attempts have the same, so services can refuse repeats. */
  idempotencyKey: string;
  /** The workflow id of the run. */
  workflowId: string;
  /** The id of the call, such as `2.1` for the first call of the second turn. */
  callId: string;
  /** The name of the calling agent. */
  agent: string;
  /** The user of the run. Absent if the run was started without one. */
  caller?: Caller;
  /** The logger of the activity; present on a worker. */
  log?: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

/** The second argument of a tool's `preview`. */
export interface PreviewContext extends Pick<ToolContext, 'workflowId' | 'agent' | 'caller' | 'log'> {
  /** Aborted when the preview takes too long or the worker shuts down. Pass it on to each operation that is awaited. */
  signal: AbortSignal;
}

/** The second argument of an agent's `checkInput`. */
export interface CheckContext extends Pick<ToolContext, 'workflowId' | 'agent' | 'log'> {
  /** Aborted after 30 seconds, when the run is cancelled, or when the worker shuts down. Pass it on. */
  signal: AbortSignal;
}

/** The second argument of a tool's `checkResult`. */
export interface ResultCheckContext<Schema extends ToolSchema = ToolSchema>
  extends CheckContext, Pick<ToolContext, 'callId' | 'caller'> {
  /** True if the tool threw an error: then the result is the text of that error. */
  isError: boolean;
  /** The arguments with which the tool ran. */
  args: StandardSchemaV1.InferOutput<Schema>;
}

/** The result of a check. Undefined passes; a line of at most 300 characters refuses, and is the reason. */
export type Verdict = string | undefined | Promise<string | undefined>;

/** What became of a call. `no` means that it did not run, and that nothing of it can take effect later. */
export type Reconciled = { ran: 'yes'; result?: unknown } | { ran: 'no' } | { ran: 'unknown' };

export const toolMark = Symbol.for('countersign.tool');

/** The result of `defineTool` or `agentTool`. Its members are the options, with their defaults. */
export interface Tool<Schema extends ToolSchema = ToolSchema> {
  readonly [toolMark]: true;
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** JSON Schema of the arguments, as the model receives it. */
  readonly schema: JsonObject;
  readonly risk: Exclude<Risk, 'unknown'>;
  readonly subject?: string;
  /** True if the subject is a shell command. */
  readonly shellSubject?: true;
  /** Only with a shell subject: the arguments that are harmless beside any command. */
  readonly beside?: readonly string[];
  /** The arguments whose values lists show, even if no worker runs. */
  readonly show?: readonly string[];
  /** More JSON that belongs to the tool's definition, beside name, description and schema. */
  readonly pinned?: JsonObject;
  /** How long one result answers all equal calls. */
  readonly cache?: (typeof cacheScopes)[number];
  readonly idempotent: boolean;
  /** The heartbeat timeout in milliseconds; null for a tool that cannot heartbeat. */
  readonly heartbeatTimeoutMs: number | null;
  /** Start-to-close timeout of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest time that the tool's `preview` may take, in milliseconds. Absent if the tool has no `preview`. */
  readonly previewTimeoutMs?: number;
  /** With `preview`, an approved call runs only if its preview is still the same. Absent: it runs in any case. */
  readonly bind?: 'preview';
  /** Only for a result of `agentTool`: the agent whose run a call starts. */
  readonly agent?: Agent;
  /** Only for a handoff tool: the agent that takes over. */
  readonly handoff?: Agent;
  // Methods rather than properties, so that tools with different arguments fit into a `Tool[]`.
  describe?(args: StandardSchemaV1.InferOutput<Schema>): string | Promise<string>;
  preview?(args: StandardSchemaV1.InferOutput<Schema>, context: PreviewContext): Previewed | Promise<Previewed>;
  execute(args: StandardSchemaV1.InferOutput<Schema>, context: ToolContext): unknown;
  reconcile?(args: StandardSchemaV1.InferOutput<Schema>, context: ToolContext): Reconciled | Promise<Reconciled>;
  checkResult?(result: Json, context: ResultCheckContext<Schema>): Verdict;
}

export const toolsetMark = Symbol.for('countersign.toolset');

/** The result of `defineToolset`, or of `mcpServer` of `@countersign/mcp`. */
export interface Toolset {
  readonly [toolsetMark]: true;
  readonly name: string;
  open(): OpenToolset;
}

/** A toolset of one worker. */
export interface OpenToolset {
  /**
   * Lists the tools, whose names begin with the toolset's name and `__`. With `fresh` it must read them now; otherwise
   * it may return an earlier list. It may take 20 seconds. It rejects with one sentence, without secrets.
   */
  list(options: { fresh: boolean }): Promise<ToolsetListing>;
  /** Releases what this worker has opened, such as connections. A later `list` opens the toolset again. */
  close(): Promise<void>;
}

/** The tools of a toolset. */
export interface ToolsetListing {
  tools: readonly Tool[];
  /** One sentence for the worker's log about each tool that is left out: its name and the reason. Default: none. */
  leftOut?: readonly string[];
}

/**
 * True for a result of `defineAgent`, even if another copy of this package made it.
 *
 * @example
 * ```ts
 * import { defineAgent, isAgent, scriptedModel } from 'countersign';
 *
 * const clerk = defineAgent({ name: 'clerk', instructions: 'Look orders up.', model: scriptedModel([]) });
 * console.log([clerk, { name: 'clerk' }, undefined].map(isAgent)); // [ true, false, false ]
 * ```
 */
export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, agentMark);
}

/**
 * True for a result of `defineTool` or `agentTool`, even if another copy of this package made it.
 *
 * @example
 * ```ts
 * import { defineTool, isTool } from 'countersign';
 * import { z } from 'zod';
 *
 * const now = defineTool({
 *   name: 'now',
 *   description: 'Tells the time.',
 *   input: z.object({}),
 *   execute: () => new Date().toISOString(),
 * });
 * console.log([now, { name: 'now' }, Date.now].map(isTool)); // [ true, false, false ]
 * ```
 */
export function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, toolMark);
}

/** True for a result of `defineToolset`, even if another copy of this package made it. */
export function isToolset(value: unknown): value is Toolset {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, toolsetMark);
}

/**
 * Thrown by a tool's `execute` if it is unknown whether the call took effect: a service did not answer, for example.
 * The outcome is `ran: unknown`, the model is notified, and only `idempotent` tools are retried. History has `message`.
 *
 * @example
 * ```ts
 * import { defineTool, UnknownOutcomeError } from 'countersign';
 * import { z } from 'zod';
 *
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Refunds an order.',
 *   input: z.object({ orderId: z.string() }),
 *   execute: ({ orderId }) => {
 *     throw new UnknownOutcomeError(`the bank did not answer about order ${orderId}`);
 *   },
 * });
 * console.log(refund.name); // refund
 * ```
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError' as const;
}
