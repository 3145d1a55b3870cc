/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** What the tool's author declares about it: a fact for the policy, never a permission. */
export const risks = ['read_only', 'write', 'destructive'] as const;
export type Risk = (typeof risks)[number] | 'unknown';

/** How bad this call would be. Where no assessor speaks: read_only safe, write medium, else high (policy section 5). */
export const severities = ['safe', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** A tool call as the gate sees it: parsed, validated, and under an id of this run's own. */
export interface ToolCall {
  /** Ours: `TURN.INDEX`, unique in the run. Never the model's id, which models reuse. */
  callId: string;
  tool: string;
  args: JsonObject;
}

/** A tool's definition as it is recorded in the run at its start; a changed one takes its place only by way of the gate (I8, I12). */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: JsonObject;
  risk: Risk;
  /** The argument that `name:args` patterns match; without it, the canonical JSON of all arguments. */
  subject?: string;
  /** True: the subject is shell text, and its call carries a split (`splitShell`). Absent from runs of older versions. */
  shellSubject?: true;
  /** True: may be repeated after an unknown outcome. */
  idempotent: boolean;
  /** Milliseconds; null for tools that block and cannot heartbeat. */
  heartbeatTimeoutMs: number | null;
  /** Longest time of one attempt, in milliseconds. */
  timeoutMs: number;
  /** SHA-256 (hex) of the canonical JSON of `{ description, name, schema }`. */
  definition: string;
  /** The nested agent whose run the call starts; such a tool has no activity. */
  agent?: string;
  /** The agent that the call hands the run over to; it has no activity either. */
  handoff?: string;
}

/** Whether a call may run a second time after an unknown outcome (I7). */
export function isRepeatable({ idempotent, risk }: Pick<ToolDefinition, 'idempotent' | 'risk'>): boolean {
  return idempotent || risk === 'read_only';
}
