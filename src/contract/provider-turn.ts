import type { Message } from './run.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

/** The parts of a model's turn that its provider requires back later, such as reasoning, signatures and ids. */
export interface ProviderTurn {
  /** The AI SDK's name of the provider, such as `anthropic.messages`. No other provider receives the parts. */
  provider: string;
  /** All parts of the turn, in their order. */
  parts: ProviderPart[];
}

/** One part of a turn. `metadata` is what the provider attached to the part, under the provider's name. */
export type ProviderPart =
  | { type: 'reasoning'; text: string; metadata?: JsonObject }
  /** A piece of the turn's text: its next `length` UTF-16 code units. */
  | { type: 'text'; length: number; metadata?: JsonObject }
  /** The next call of the turn. */
  | { type: 'call'; metadata?: JsonObject }
  | { type: 'custom'; kind: `${string}.${string}`; metadata?: JsonObject };

/** A message as a run stores it: a `Message` with members that clients do not see (`shownTranscript`). */
export type KeptMessage = Exclude<Message, AnswerOfModel | SaidByUser> | KeptAnswer | KeptInput;

type KeptInput = SaidByUser & {
  /** True if `checkInput` refused the message and the user wrote another: the model does not receive this one. */
  refused?: true;
};

type KeptAnswer = AnswerOfModel & {
  providerTurn?: ProviderTurn;
  /** Why the answer is not final. The model receives this text in the next turn, and corrects its answer. */
  outputProblem?: string;
};

type AnswerOfModel = Extract<Message, { role: 'assistant' }>;
type SaidByUser = Extract<Message, { role: 'user' }>;
