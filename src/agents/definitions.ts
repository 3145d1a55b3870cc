/** They are in one file because agents have tools and a tool may call an agent. */
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
  /** A function is not checked before a worker is created. */
  readonly handoffs: () => readonly Agent[];
  readonly policy?: string | object;
  readonly maxTurns: number;
  readonly modelCall?: Readonly<ModelCallOptions>;
  readonly files?: TakenFiles;
  readonly output?: ToolSchema;
  /** With `output`: its JSON Schema, as the model receives it. */
  readonly outputSchema?: JsonObject;
  checkInput?(messages: Message[], context: CheckContext): Verdict;
}

/** The second argument of a tool's `execute`. */
export interface ToolContext {
  /** Aborted when the run is cancelled or the worker shuts down. Pass it on to every operation that the tool awaits. */
  signal: AbortSignal;
  /** Temporal's run id of the first execution, and the call id: the same for all attempts, so a duplicate is seen. */
  idempotencyKey: string;
  /** The workflow id of the run. */
  workflowId: string;
  /** Such as `2.1`: the first call of the second turn. */
  callId: string;
  /** The name of the calling agent. */
  agent: string;
  /** The user of the run, if it was started with one. */
  caller?: Caller;
  /** The logger of the activity; present on a worker. */
  log?: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

/** The second argument of a tool's `preview`. */
export interface PreviewContext extends Pick<ToolContext, 'workflowId' | 'agent' | 'caller' | 'log'> {
  /** Aborted when the preview takes too long or the worker shuts down. Pass it on to what the preview awaits. */
  signal: AbortSignal;
}

/** The second argument of an agent's `checkInput`. */
export interface CheckContext extends Pick<ToolContext, 'workflowId' | 'agent' | 'log'> {
  /** Aborted after 30 seconds, and when the run is cancelled or the worker shuts down. Pass it on. */
  signal: AbortSignal;
}

/** The second argument of a tool's `checkResult`. */
export interface ResultCheckContext<Schema extends ToolSchema = ToolSchema>
  extends CheckContext, Pick<ToolContext, 'callId' | 'caller'> {
  /** True: the tool threw, and the result is the text of its error. */
  isError: boolean;
  /** The arguments with which the tool ran. */
  args: StandardSchemaV1.InferOutput<Schema>;
}

/** The result of a check: undefined passes; a text of one line with at most 300 characters refuses, with the reason. */
export type Verdict = string | undefined | Promise<string | undefined>;

/** What became of a call. `no`: it did not run, and nothing of it can take effect any more. */
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
  /** True: the subject is shell text. */
  readonly shellSubject?: true;
  /** For a shell subject: the arguments that are harmless beside any command. */
  readonly beside?: readonly string[];
  /** The arguments that lists show without a worker. */
  readonly show?: readonly string[];
  /** JSON that is part of the tool's definition, beside its name, description and schema. */
  readonly pinned?: JsonObject;
  /** How long a result answers equal calls. */
  readonly cache?: (typeof cacheScopes)[number];
  readonly idempotent: boolean;
  /** Milliseconds; null for a tool that cannot heartbeat. */
  readonly heartbeatTimeoutMs: number | null;
  /** Start-to-close timeout of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest time that the tool's `preview` may take, in milliseconds. Absent: it has none. */
  readonly previewTimeoutMs?: number;
  /** `preview`: an approved call runs only if its preview has not changed. Absent: it runs whatever the preview. */
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
   * The tools, whose names begin with the toolset's name and `__`. `fresh`: read now; otherwise an earlier result is
   * enough. Takes at most 20 seconds. Rejects with one sentence, without secrets.
   */
  list(options: { fresh: boolean }): Promise<ToolsetListing>;
  /** Ends the resources of the worker. A later use opens them again. */
  close(): Promise<void>;
}

/** The tools of a toolset. */
export interface ToolsetListing {
  tools: readonly Tool[];
  /** One sentence for the worker's log for each tool that is not offered: its name and the reason. Default: none. */
  leftOut?: readonly string[];
}

/**
 * True for a result of `defineAgent`, also of another copy of this package.
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
 * True for a result of `defineTool` or `agentTool`, also of another copy of this package.
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

/** True for a result of `defineToolset`, also of another copy of this package. */
export function isToolset(value: unknown): value is Toolset {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, toolsetMark);
}

/**
 * Thrown by a tool's `execute` if it is unknown whether the call took effect. Its outcome is `ran: unknown`, the model
 * is notified, and only a tool that may be repeated is retried. `message` is kept in history.
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
