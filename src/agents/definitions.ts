/** What `defineAgent` and `defineTool` return: agents have tools, and a tool may call an agent. */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Logger } from '@temporalio/common';
import type { z } from 'zod';
import type { Caller } from '../contract.ts';
import type { JsonObject, Risk } from '../core/base/tool-call.ts';
import type { ToolSchema } from './tool-schema.ts';

export const agentMark = Symbol.for('countersign.agent');

export interface Agent {
  readonly [agentMark]: true;
  readonly name: string;
  readonly instructions: string;
  readonly model: LanguageModelV4;
  readonly description?: string;
  readonly tools: readonly Tool[];
  /** Unchecked where it was given as a function: `createRegistry` reads it. */
  readonly handoffs: () => readonly Agent[];
  readonly policy?: string | object;
  readonly maxTurns: number;
}

/** What a tool learns beside its arguments. */
export interface ToolContext {
  /** Aborted when the run is cancelled or the worker shuts down: pass it on to what the tool waits for. */
  signal: AbortSignal;
  /** Workflow id + call id: the same for every attempt of one call, so that another system can refuse a repeat (I7). */
  idempotencyKey: string;
  workflowId: string;
  callId: string;
  agent: string;
  caller?: Caller;
  log?: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

export const toolMark = Symbol.for('countersign.tool');

export interface Tool<Schema extends ToolSchema = ToolSchema> {
  readonly [toolMark]: true;
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** JSON Schema of the arguments: what the model is given. */
  readonly schema: JsonObject;
  readonly risk: Exclude<Risk, 'unknown'>;
  readonly subject?: string;
  /** True: the subject is shell text. */
  readonly shellSubject?: true;
  readonly idempotent: boolean;
  /** Null for a tool that cannot heartbeat. */
  readonly heartbeatTimeoutMs: number | null;
  readonly timeoutMs: number;
  /** Of what `agentTool` returned: the agent whose run a call starts. */
  readonly agent?: Agent;
  /** Of a tool that hands a run over: to whom. */
  readonly handoff?: Agent;
  // A method, not a property: a list of tools with different arguments is a `Tool[]`.
  execute(args: z.output<Schema>, context: ToolContext): unknown;
}

/** True for what `defineAgent` made. */
export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, agentMark);
}

/** True for what `defineTool` made. */
export function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, toolMark);
}
