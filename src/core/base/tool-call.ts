/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** The risks that a tool's author can declare: a fact for the policy, never a permission. */
export const risks = ['read_only', 'write', 'destructive'] as const;
/** The risk of a tool's calls. `unknown`: the tool declares none, and the policy asks by default. */
export type Risk = (typeof risks)[number] | 'unknown';

/** How long a result answers equal calls: until the next message of a session's user, or for the whole session. */
export const cacheScopes = ['run', 'session'] as const;

export const severities = ['safe', 'low', 'medium', 'high', 'critical'] as const;
/** How severe a call is. Default without an assessor: `safe` for read_only, `medium` for write, else `high`. */
export type Severity = (typeof severities)[number];

/** A tool call as the gate sees it: parsed, validated, and under an id that is unique in its run. */
export interface ToolCall {
  /** Assigned by the run: `TURN.INDEX`. Never the model's id, which models reuse. */
  callId: string;
  tool: string;
  args: JsonObject;
}

/**
 * A tool's definition, as a run records it. A worker's newer one replaces it when a call of the tool passes the gate.
 */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: JsonObject;
  risk: Risk;
  /** The name of the argument that `name:args` patterns match. Default: they match the JSON of all arguments. */
  subject?: string;
  /** True: the subject is shell text, and the call carries its split (`splitShell`). */
  shellSubject?: true;
  /** For a shell subject: the other arguments that are harmless beside any command. Default: none. */
  beside?: readonly string[];
  /** The arguments that lists show without a worker. Not part of `definition`. Default: none. */
  show?: readonly string[];
  /** True: calls may be retried after an unknown outcome. */
  idempotent: boolean;
  /** Milliseconds; null for tools that block and cannot heartbeat. */
  heartbeatTimeoutMs: number | null;
  /** Maximum duration of one attempt, in milliseconds. */
  timeoutMs: number;
  /** The longest time of the tool's `preview`, in milliseconds. Absent: no preview. Not part of `definition`. */
  previewTimeoutMs?: number;
  /** `preview`: an approved call runs only if its preview has not changed. Not part of `definition`. */
  bind?: 'preview';
  /** True: the tool says what became of a call with an unknown outcome. Not part of `definition`. */
  reconciles?: true;
  /** How long a result answers equal calls. Ignored unless the risk is `read_only`. Not part of `definition`. */
  cache?: (typeof cacheScopes)[number];
  /** The tool's `definitionDigest`. */
  definition: string;
  /** The nested agent whose run the call starts. Such a tool has no activity. */
  agent?: string;
  /** The agent that the call hands the run over to. Such a tool has no activity. */
  handoff?: string;
}

/** True if a call may run a second time after an unknown outcome. */
export function isRepeatable({ idempotent, risk }: Pick<ToolDefinition, 'idempotent' | 'risk'>): boolean {
  return idempotent || risk === 'read_only';
}

/** The tool by which a run asks to go on beyond a limit. In a pattern, the colon is a part of this name. */
export const continueTool = 'countersign:continue';

/** Types of failures by which the second gate refuses a call before the tool starts. */
export const secondGateTypes = [
  'forbidden',
  'digest_mismatch',
  'denied_by_policy',
  'undecodable',
  'arguments_invalid',
  'definition_changed',
  'preview_changed',
  'tool_unavailable',
] as const;

/** Failure type: the worker has another definition than the run admitted. Second detail: a `ChangedDefinition`. */
export const definitionChangedType = 'definition_changed';

/** Failure type: reviewers saw another preview. Second detail: a `ChangedDefinition` with `changes`. */
export const previewChangedType = 'preview_changed';

/** Failure type: the worker stopped while the tool ran, so the effect of the call may have happened. */
export const outcomeUnknownType = 'outcome_unknown';

/** All failure types that mean an unknown outcome, including Temporal's own. */
export const leftInMidCallTypes: readonly string[] = [outcomeUnknownType, 'WorkerShutdown'];

/** Failure type: a stored payload could not be read, so the activity did not start, and may be retried. */
export const payloadUnreadType = 'payload_unread';

/** Failure type: the activity ran, but its result could not be encoded or stored. */
export const payloadNotKeptType = 'payload_not_kept';

/** Failure type: the tool ran, and its check withheld the result from the model. The message says why. */
export const resultWithheldType = 'result_withheld';

/** Failure type: the tool itself threw an error. */
export const toolFailedType = 'tool_failed';

/** The first detail of a refusal by the second gate, which distinguishes it from an error of the tool itself. */
export const refusedBySecondGate = 'refused by the second gate';

/** The source of failures that workers of the TypeScript SDK report. An operator's failure has another source. */
export const workerSource = 'TypeScriptSDK';

/** The first detail of an error that the channel itself threw. After any other failure, the run retries the call. */
export const thrownByChannel = 'thrown by the channel';
