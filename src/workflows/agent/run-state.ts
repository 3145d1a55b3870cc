import type { ModelCall } from '../../activities/model-turn.ts';
import type { ApprovalRequest, Message, Usage } from '../../contract.ts';
import type { AgentConfig, RunConfig } from '../../core/policy/run-config.ts';
import type { Json, ToolCall, ToolDefinition } from '../../core/base/tool-call.ts';
import type { Writer } from '../state/carried.ts';
import type { GateSnapshot } from '../state/gate-state.ts';

/** One call of the current turn, from the model's request to the answer. */
export type TurnCall = HeldCall | AskedCall | StartableCall | AnsweredCall;

interface RequestedCall {
  /** The model's own id, for its transcript only: models reuse ids. */
  modelCallId: string;
  tool: string;
  /** The arguments as the transcript keeps them. */
  written: Json;
  /** How often the tool was not started because its definition had changed. */
  changes?: number;
  /** A sentence for the model, before the result, about a reviewer's changes. */
  notice?: string;
}

/** Waits for the gate, until an earlier call of the turn has its answer or, if its tool has changed, at once. */
export interface HeldCall extends RequestedCall {
  state: 'held';
  held: {
    requested: ModelCall;
    callId: string;
    contextSummary: string;
    /** True if it passed the gate before and its tool has changed since. */
    again?: true;
    replaces?: ApprovalRequest['replaces'];
  };
}

/** Waits for a reviewer. */
export interface AskedCall extends RequestedCall {
  state: 'asked';
  call: ToolCall;
  /** The tool's definition that passed the gate; absent in runs of older versions. */
  admitted?: string;
  requestId: string;
}

/** May run, or runs. */
export interface StartableCall extends RequestedCall {
  state: 'ready' | 'running';
  call: ToolCall;
  admitted?: string;
  requestId?: string;
  /** How often the tool was not started because its arguments could not be read. */
  unread?: number;
}

export interface AnsweredCall extends RequestedCall {
  state: 'done';
  content: string;
  isError?: boolean;
}

/** The state of a run outside its gate: plain JSON, carried whole through continue-as-new (I11). */
export interface RunState {
  config: RunConfig;
  /** The agent in charge after a handoff; absent: the agent that the run started with. */
  agent?: string;
  /** The agent that takes over at the next turn. */
  next?: string;
  messages: Message[];
  /** What the user of a session has said since the last model call. */
  pendingMessages?: string[];
  /** Model calls made so far. */
  turn: number;
  /** The value of `turn` when the user of a session last said something. Absent: only the run's input counts. */
  askedAfterTurn?: number;
  /** The calls of this turn; empty if the model is called next. */
  calls: TurnCall[];
  usage: Usage;
  /** Replaced definitions, for calls that were admitted under them. */
  former?: ToolDefinition[];
  /** The number of the run's executions so far, this one included. */
  executions: number;
}

/** The agent in charge. */
export function agentOf({ config, agent }: Pick<RunState, 'config' | 'agent'>): AgentConfig {
  return config.handoffs?.find((each) => each.agent === agent) ?? config;
}

/** A tool of any agent of the run, by the hash of its definition. */
export function recordedTool(
  { config, former = [] }: RunState,
  tool: string,
  definition: string,
): ToolDefinition | undefined {
  const tools = [config, ...(config.handoffs ?? [])].flatMap((each) => each.tools);
  return [...tools, ...former].find((each) => each.name === tool && each.definition === definition);
}

/** The second argument of `agentRun`. It is trusted only if the run's own continue-as-new wrote it (`carried.ts`). */
export interface Carried {
  writer: Writer;
  state: RunState;
  gate: GateSnapshot;
}
