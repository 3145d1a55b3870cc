/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** The risks that a tool's author can declare: a fact for the policy, never a permission. */
export const risks = ['read_only', 'write', 'destructive'] as const;
/** The effect that a call of a tool can have. `unknown`: it is not declared, and the policy asks by default. */
export type Risk = (typeof risks)[number] | 'unknown';

/** How long a result answers equal calls: until the user of a session says more, or for the whole session. */
export const cacheScopes = ['run', 'session'] as const;

export const severities = ['safe', 'low', 'medium', 'high', 'critical'] as const;
/** How severe a call is. Default without an assessor: `safe` for read_only, `medium` for write, else `high`. */
export type Severity = (typeof severities)[number];

/** A tool call as the gate sees it: parsed, validated, and under an id that is unique in its run. */
export interface ToolCall {
  /** Assigned by the run: `TURN.INDEX`. Never the model's id, which models reuse. */
  callId: string;
  /** The tool's name. */
  tool: string;
  args: JsonObject;
}

/** A tool's definition, recorded at the start of a run. A changed one replaces it only if a call passes the gate. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: JsonObject;
  risk: Risk;
  /** The argument that `name:args` patterns match. Default: the canonical JSON of all arguments. */
  subject?: string;
  /** True: the subject is shell text, and its call carries a split (`splitShell`). Absent: it is none. */
  shellSubject?: true;
  /** For a shell subject: the other arguments that are harmless beside any command. Default: none. */
  beside?: readonly string[];
  /** The arguments that lists show without a worker. Not part of `definition`. Default: none. */
  show?: readonly string[];
  /** True: may be retried after an unknown outcome. */
  idempotent: boolean;
  /** Milliseconds; null for tools that block and cannot heartbeat. */
  heartbeatTimeoutMs: number | null;
  /** Maximum duration of one attempt, in milliseconds. */
  timeoutMs: number;
  /** If the tool has a `preview`: the longest time that it may take, in milliseconds. Not part of `definition`. */
  previewTimeoutMs?: number;
  /** If an approved call runs only while its preview holds. Not part of `definition`. */
  bind?: 'preview';
  /** How long a result answers equal calls. It counts only if the risk is `read_only`. Not part of `definition`. */
  cache?: (typeof cacheScopes)[number];
  /** SHA-256 (hex) of the canonical JSON of `{ description, name, schema }`, and of what else the tool pins. */
  definition: string;
  /** The nested agent whose run the call starts. Such a tool has no activity. */
  agent?: string;
  /** The agent that the call hands the run over to. Such a tool has no activity either. */
  handoff?: string;
}

/** True if a call may run a second time after an unknown outcome. */
export function isRepeatable({ idempotent, risk }: Pick<ToolDefinition, 'idempotent' | 'risk'>): boolean {
  return idempotent || risk === 'read_only';
}

/** The name under which a run asks whether it goes on beyond a limit. Rules name it so, as a whole. */
export const continueTool = 'countersign:continue';
