import type { Revoked } from '../core/people/revoked.ts';
import type { Caller, JournalEntry } from '../contract.ts';
import type { KeptMessage, ProviderTurn } from '../contract/provider-turn.ts';
import type { ArgumentFacts } from '../core/assess/argument-facts.ts';
import type { ModelUsage } from '../core/base/model-answer.ts';
import type { SizeLimits } from '../core/base/size-limits.ts';
import type { RedactionSettings } from '../core/redact/redaction.ts';
import type { Json, JsonObject, ToolDefinition } from '../core/base/tool-call.ts';

export type { KeptMessage } from '../contract/provider-turn.ts';

/** The argument of activity `countersign.callModel`. It has only what the run has recorded (I12). */
export interface CallModelInput {
  agent: string;
  /** The number of the turn, from 1. Only for readers of the history. */
  turn: number;
  instructions: string;
  tools: Pick<ToolDefinition, 'name' | 'description' | 'schema'>[];
  messages: KeptMessage[];
  /** What reviewers must not see of the calls' arguments, by the run's policies. Absent: nothing is hidden. */
  redact?: RedactionSettings;
  /** The size limits that the run recorded; absent: those of Temporal's own payloads. */
  sizeLimits?: SizeLimits;
  /** The engine that rules in the run. Absent: the run does not read `cannotStart`. */
  engine?: number;
  caller?: Caller;
}

/** The second argument of the activity, which does not read it: the argument puts journal entries into history. */
export interface JournalCarrier {
  journal: JournalEntry[];
}

/** One turn of the model; at most `SizeLimits.turnBytes` of JSON. */
export interface CallModelResult {
  text: string;
  calls: ModelCall[];
  usage: ModelUsage;
  /** The model's id, as the agent's `model` names it. */
  model?: string;
  /** `stop`, `tool-calls`, `length`, `content-filter` or `other`. */
  finishReason: string;
  /** The parts of the turn that the provider requires back in the next one. Absent if it requires none. */
  providerTurn?: ProviderTurn;
  /** The value of a final answer, if the agent has an `output`. */
  structuredOutput?: JsonObject;
  /** Why the answer does not fit the agent's `output`, in one sentence. The model then answers again. */
  outputProblem?: string;
  /** The keys and people that the operator's policy on this worker revokes. Absent if it revokes none. */
  revoked?: Revoked;
  /** The redacted text that reviewers see beside the calls. Absent if the run itself can redact the text. */
  contextSummary?: string;
}

/** A tool call as the model asked for it: either `args`, or `problem` with `raw`. */
export interface ModelCall extends ArgumentFacts {
  /** The model's id; unique only within its turn. */
  id: string;
  /** The name as the model wrote it, at most 128 characters. There may be no tool of this name. */
  tool: string;
  /** The arguments by the tool's schema, without unknown keys. Exactly these are shown, hashed and executed (I8). */
  args?: JsonObject;
  /** What the transcript has in place of missing `args`: the arguments as written, or the start of their text. */
  raw?: Json;
  /** The sentence that the model gets instead of a result: `Error: …`. */
  problem?: string;
}
