import type { JournalEntry, Message, Usage } from '../contract.ts';
import type { ShellSplit } from '../core/shell/parts.ts';
import type { Assessment } from '../core/assess/assessment.ts';
import type { SizeLimits } from '../core/base/size-limits.ts';
import type { Json, JsonObject, ToolDefinition } from '../core/base/tool-call.ts';

/** The argument of activity `countersign.callModel`. Everything in it was recorded by the run (I12). */
export interface CallModelInput {
  agent: string;
  /** From 1; for the reader of the history. */
  turn: number;
  instructions: string;
  tools: Pick<ToolDefinition, 'name' | 'description' | 'schema'>[];
  messages: Message[];
  /** As the run recorded them; absent: those of Temporal's own payloads. */
  sizeLimits?: SizeLimits;
}

/** The second argument: rides along so that history keeps it (design section 6); the activity does not read it. */
export interface JournalCarrier {
  journal: JournalEntry[];
}

/** One turn of the model; at most `SizeLimits.turnBytes` of JSON. */
export interface CallModelResult {
  text: string;
  calls: ModelCall[];
  usage: Usage;
  /** `stop`, `tool-calls`, `length`, `content-filter` or `other`. */
  finishReason: string;
}

/** A tool call as the model asked for it: either `args`, or `problem` with `raw`. */
export interface ModelCall {
  /** The model's id: unique in its turn, no more. */
  id: string;
  /** As the model wrote it, at most 128 characters; may be the name of no tool. */
  tool: string;
  /** Parsed by the tool's schema: defaults filled, unknown keys stripped. What is shown, hashed and executed (I8). */
  args?: JsonObject;
  /**
   * Where the tool has a shell subject and the call has it: its split, and the argument that was split. Where that is
   * not the subject that the run recorded for the tool, or where there is none, the gate takes `notSplit` (I2).
   */
  shell?: ShellSplit & { argument: string };
  /** What the built-in assessors and the worker's own say of the call; absent where they say nothing. */
  assessment?: Assessment;
  /** What the transcript keeps where there are no `args`: the arguments, or the start of their text. */
  raw?: Json;
  /** What the model is told: `Error: …`. */
  problem?: string;
}
