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

/** One call of the current turn, from the model's request to the answer. */
export type TurnCall = HeldCall | AskedCall | CheckedCall | StartableCall | AnsweredCall;

interface RequestedCall {
  /** The model's own id, for its transcript only: models reuse ids. */
  modelCallId: string;
  tool: string;
  /** The arguments as the transcript keeps them. */
  written: Json;
  /** How often the tool was not started because its definition had changed. */
  changes?: number;
  /** For the model, before the result: what reviewers changed and wrote. */
  notice?: string;
}

/**
 * Waits for the gate: until an earlier call of the turn has its answer, until its advisors have answered, or, if its tool
 * has changed, not at all.
 */
export interface HeldCall extends RequestedCall {
  state: 'held';
  held: {
    requested: ModelCall;
    callId: string;
    contextSummary: string;
    /** True if it passed the gate before and its tool has changed since. */
    again?: true;
    replaces?: ApprovalRequest['replaces'];
    /** Present until its advisors have answered. */
    consultation?: Consultation;
    /** What they answered: it passes the gate at once. */
    advice?: readonly Advice[];
  };
}

/** Waits for a reviewer. */
export interface AskedCall extends RequestedCall {
  state: 'asked';
  call: ToolCall;
  /** The tool's definition that passed the gate. */
  admitted: string;
  requestId: string;
  /** True: a reviewer has answered in the tool's place, and it is not checked yet whether that counts. Nothing runs. */
  isResponse?: true;
}

/** May run, or runs. */
export interface StartableCall extends RequestedCall {
  state: 'ready' | 'running';
  call: ToolCall;
  admitted: string;
  requestId?: string;
  /** Those who made the grant that lets it run. */
  approvedBy?: Approver[];
  /** How often the tool was not started because its arguments could not be read. */
  unread?: number;
}

/** A worker is asked whether the approval of the call, or the answer in its place, still counts. */
export interface CheckedCall extends RequestedCall {
  state: 'checked';
  /** What goes on if it counts. */
  waiting: AskedCall | StartableCall;
}

export interface AnsweredCall extends RequestedCall {
  state: 'done';
  content: string;
  isError?: boolean;
}

/** What a whole run has used up, beside its turns and tokens, and what it was allowed beyond its limits. */
export interface Spending {
  startedAtMs: number;
  /** Calls of tools that came to the gate, and those that a limit kept from it. */
  calls: number;
  /** The tokens of nested runs that have ended. */
  nested?: Usage;
  /** What the models cost, with those of nested runs that have ended. Absent before the first call. */
  cost?: SpentCost;
  /** How many models without a price there were when a person let the run go on. */
  allowedUnpriced?: number;
  /** How much of a measure was used when a person last let the run go on. */
  allowedFrom?: Partial<Record<RunMeasure, number>>;
  /** How often a person was asked. */
  asks?: number;
  /** The request that the run waits for. */
  asking?: { requestId: string; callId: string; limit: ReachedLimit };
}

/** Results in the transcript that answer equal calls, as far as nothing has changed since (`result-cache.ts`). */
export interface KeptResults {
  /** The agent that called: a result may depend on it. */
  agent: string;
  /** The turn in which a call last started that may have changed something: no result of it is kept. */
  changedInTurn?: number;
  /** `place`: of the message; `from`: where the result begins in its text, after the notice of reviewers. */
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
  /** What the user of a session has said since the last model call. */
  pendingMessages?: SaidMessage[];
  /** Model calls made so far. */
  turn: number;
  /** The value of `turn` when the user of a session last said something. Absent: only the run's input counts. */
  askedAfterTurn?: number;
  /** Why the last model call of a session failed. Absent: it did not, or its user has said something since. */
  failedTurn?: Problem;
  /** Why the user of a session stopped its turn, and how many messages waited for the model then. Absent: nobody did. */
  stopped?: { reason: string; pending: number };
  /** The calls of this turn; empty if the model is called next. */
  calls: TurnCall[];
  usage: Usage;
  /** What the limits of the policies count besides. Absent before the first count. */
  spending?: Spending;
  /** The results that answer equal calls. Absent: no tool of the run has kept one. */
  results?: KeptResults;
  /** Replaced definitions, for calls that were admitted under them. */
  former?: ToolDefinition[];
  /** The number of the run's executions so far, this one included. */
  executions: number;
}

/** The agent in charge. */
export function agentOf({ config, agent }: Pick<RunState, 'config' | 'agent'>): AgentConfig {
  return config.handoffs?.find((each) => each.agent === agent) ?? config;
}

/** The usage of nested runs, and what all cost by the prices that the run recorded, as results and statuses give it. */
export function spentOf({ config, spending }: Pick<RunState, 'config' | 'spending'>): SpentByRun {
  const { nested, cost } = spending ?? {};
  return { ...(nested !== undefined && { nestedUsage: nested }), ...costOf(config.ceiling?.prices, cost) };
}

type SpentByRun = Pick<RunResult, 'nestedUsage' | 'cost'>;

/** A tool of any agent of the run, by the hash of its definition. */
export function recordedTool(
  { config, former = [] }: RunState,
  tool: string,
  definition: string,
): ToolDefinition | undefined {
  const tools = [config, ...(config.handoffs ?? [])].flatMap((each) => each.tools);
  return [...tools, ...former].find((each) => each.name === tool && each.definition === definition);
}

/** A message of the user. */
export type SaidMessage = Extract<KeptMessage, { role: 'user' }>;

/** The second argument of `agentRun`. It is trusted only if the run's own continue-as-new wrote it (`carried.ts`). */
export interface Carried {
  writer: Writer;
  state: RunState;
  gate: GateSnapshot;
}
