import type { KeptMessage, ModelCall } from '../../activities/model-turn.ts';
import type { ApprovalRequest, RunResult, Usage } from '../../contract.ts';
import type { RunMeasure } from '../../core/policy/policy.ts';
import { costOf, type SpentCost } from '../../core/policy/run-cost.ts';
import type { ReachedLimit } from '../../core/policy/run-limits.ts';
import type { AgentConfig, RunConfig } from '../../core/policy/run-config.ts';
import type { Approver } from '../../core/ledger/approved-by.ts';
import type { Advice } from '../../core/policy/advice.ts';
import type { Problem } from '../../core/base/problem.ts';
import type { Json, ToolCall, ToolDefinition } from '../../core/base/tool-call.ts';
import type { Writer } from '../state/carried.ts';
import type { Consultation } from '../gate/consult-advisors.ts';
import type { GateSnapshot } from '../state/gate-state.ts';

export type TurnCall = HeldCall | AskedCall | CheckedCall | StartableCall | AnsweredCall;

interface RequestedCall {
  /** The id that the model gave the call. Only the transcript uses it, because models reuse ids. */
  modelCallId: string;
  tool: string;
  written: Json;
  /** How often the tool was not started because its definition had changed. */
  changes?: number;
  /** How often the tool was started without a known outcome. */
  unknownStarts?: number;
  /** True: the tool may have run, so only a person can let it start again. */
  mayHaveRun?: true;
  /** The sentences that precede the result for the model: what reviewers changed and wrote. */
  notice?: string;
}

/** A call that has not passed the gate yet. It waits for advisors, or for earlier calls of its turn. */
export interface HeldCall extends RequestedCall {
  state: 'held';
  held: {
    requested: ModelCall;
    callId: string;
    contextSummary: string;
    /** True if the call passed the gate before, and since then its tool has changed or may have run. */
    again?: true;
    replaces?: ApprovalRequest['replaces'];
    consultation?: Consultation;
    /** The answers of the advisors. With them, the gate rules on the call without consulting anyone again. */
    advice?: readonly Advice[];
  };
}

export interface AskedCall extends RequestedCall {
  state: 'asked';
  call: ToolCall;
  /** The tool's definition that passed the gate. */
  admitted: string;
  requestId: string;
  /** True if a reviewer has answered in place of the tool, and the run must still check whether the reviewer counts. */
  isResponse?: true;
}

export interface StartableCall extends RequestedCall {
  state: 'ready' | 'running';
  call: ToolCall;
  admitted: string;
  requestId?: string;
  /** The reviewers who made the grant that lets the call run. */
  approvedBy?: Approver[];
  /** How often the tool was not started because its arguments could not be read. */
  unread?: number;
}

/** A call that waits while a worker checks whether the call's approval or response still counts. */
export interface CheckedCall extends RequestedCall {
  state: 'checked';
  waiting: AskedCall | StartableCall;
}

export interface AnsweredCall extends RequestedCall {
  state: 'done';
  content: string;
  isError?: boolean;
}

/** What a whole run has used besides turns and tokens, and how far people have let it go beyond its limits. */
export interface Spending {
  startedAtMs: number;
  /** The number of tool calls that reached the gate, or that a limit refused before. */
  calls: number;
  /** The tokens of nested runs that have ended. */
  nested?: Usage;
  /** The cost of the models, with that of nested runs that have ended. Absent before the first call. */
  cost?: SpentCost;
  /** How many models without a price the run had used when a person last let it go on. */
  allowedUnpriced?: number;
  /** For each measure, how much of it was used when a person last let the run go on. */
  allowedFrom?: Partial<Record<RunMeasure, number>>;
  /** How often the run has asked to go on beyond a limit. */
  asks?: number;
  asking?: { requestId: string; callId: string; limit: ReachedLimit };
}

/** The results in the transcript that may answer equal calls of later turns (`result-cache.ts`). */
export interface KeptResults {
  /** The agent that made the calls. No other agent gets their results, which may depend on the agent. */
  agent: string;
  /** The turn in which a call that may have changed something last started. No result of this turn is kept. */
  changedInTurn?: number;
  /** `place` is the message's index. `from` is the length of the reviewers' notice that precedes the result in it. */
  calls: { callId: string; digest: string; place: number; from?: number }[];
}

/** The state of a run outside its gate: plain JSON, carried whole through continue-as-new (I11). */
export interface RunState {
  config: RunConfig;
  /** The agent in charge after a handoff; absent: the agent that the run started with. */
  agent?: string;
  /** The agent that takes over at the next turn. */
  next?: string;
  messages: KeptMessage[];
  /** The messages of a session's user since the last model call. */
  pendingMessages?: SaidMessage[];
  /** The number of model calls made so far. */
  turn: number;
  /** The value of `turn` when the last message of a session's user reached the transcript. Absent: none has. */
  askedAfterTurn?: number;
  /** Why the last model call of a session failed. Absent if it did not fail, or if the user has written since. */
  failedTurn?: Problem;
  /** Why the user stopped the turn; absent if it goes on. `pending`: how many messages waited for the model then. */
  stopped?: { reason: string; pending: number };
  /** The calls of this turn; empty if the model is called next. */
  calls: TurnCall[];
  usage: Usage;
  /** What the run has used besides turns and tokens, for the limits of the policies. Absent before the first count. */
  spending?: Spending;
  /** The results that answer equal calls. Absent: no tool of the run has kept one. */
  results?: KeptResults;
  former?: ToolDefinition[];
  /** The number of the run's executions so far, this one included. */
  executions: number;
}

export function agentOf({ config, agent }: Pick<RunState, 'config' | 'agent'>): AgentConfig {
  return config.handoffs?.find((each) => each.agent === agent) ?? config;
}

/** Returns the tokens of nested runs, and the cost of the whole run by its recorded prices. */
export function spentOf({ config, spending }: Pick<RunState, 'config' | 'spending'>): SpentByRun {
  const { nested, cost } = spending ?? {};
  return { ...(nested !== undefined && { nestedUsage: nested }), ...costOf(config.ceiling?.prices, cost) };
}

type SpentByRun = Pick<RunResult, 'nestedUsage' | 'cost'>;

/** Returns the tool with this definition, among the present and former tools of all agents of the run. */
export function recordedTool(
  { config, former = [] }: RunState,
  tool: string,
  definition: string,
): ToolDefinition | undefined {
  const tools = [config, ...(config.handoffs ?? [])].flatMap((each) => each.tools);
  return [...tools, ...former].find((each) => each.name === tool && each.definition === definition);
}

export type SaidMessage = Extract<KeptMessage, { role: 'user' }>;

/** The second argument of `agentRun`. It is trusted only if the run's own continue-as-new wrote it (`carried.ts`). */
export interface Carried {
  writer: Writer;
  state: RunState;
  gate: GateSnapshot;
}
