import type { ModelCall } from '../../activities/model-turn.ts';
import type { ApprovalRequest, Message, Usage } from '../../contract.ts';
import type { AgentConfig, RunConfig } from '../../core/policy/run-config.ts';
import type { Json, ToolCall, ToolDefinition } from '../../core/base/tool-call.ts';
import type { Writer } from '../state/carried.ts';
import type { GateSnapshot } from '../state/gate-state.ts';

/** One call of the turn at hand, from the model's wish to the answer it gets. */
export interface TurnCall {
  /** The model's own id, for its transcript only: models reuse ids. */
  modelCallId: string;
  tool: string;
  /** What the transcript keeps as the arguments. */
  written: Json;
  /** Present when the arguments were good. */
  call?: ToolCall;
  state: 'held' | 'asked' | 'ready' | 'running' | 'done';
  /** What waits for the gate until an earlier call of the turn has its answer. */
  held?: {
    wish: ModelCall;
    callId: string;
    contextSummary: string;
    /** True: it passed the gate before, and its tool has changed since. */
    again?: true;
    replaces?: ApprovalRequest['replaces'];
  };
  /** The tool's definition that passed the gate; absent in runs of older versions. */
  admitted?: string;
  /** How often the tool was not started because its definition had changed. */
  changes?: number;
  requestId?: string;
  /** What the model is told of a reviewer's changes before the result. */
  notice?: string;
  content?: string;
  isError?: boolean;
  /** How often the tool was not started for want of its arguments. */
  unread?: number;
}

/** Everything of a run that is not in its gate; plain JSON, carried whole through continue-as-new (I11). */
export interface RunState {
  config: RunConfig;
  /** The agent in charge, once the run has been handed over; else the one it started with. */
  agent?: string;
  /** The agent that takes over at the next turn. */
  next?: string;
  messages: Message[];
  /** Model calls made so far. */
  turn: number;
  /** The calls of this turn; empty when the model is to speak next. */
  calls: TurnCall[];
  usage: Usage;
  /** Definitions that others have taken the place of, for calls that were admitted under them. */
  former?: ToolDefinition[];
  /** Links of the chain, this one included. */
  links: number;
}

/** The agent that is in charge now. */
export function agentOf({ config, agent }: Pick<RunState, 'config' | 'agent'>): AgentConfig {
  return config.handoffs?.find((each) => each.agent === agent) ?? config;
}

/** The second argument of `agentRun`: believed only where its own continue-as-new wrote it (`carried.ts`). */
export interface Carried {
  writer: Writer;
  state: RunState;
  gate: GateSnapshot;
}
