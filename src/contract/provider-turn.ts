import type { Message } from './run.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

/** What only its provider reads, and requires in later requests: reasoning, signatures, ids of its own. */
export interface ProviderTurn {
  /** The AI SDK's name of the provider, such as `anthropic.messages`. It is sent to no other provider. */
  provider: string;
  /** All parts of the turn, in their order. */
  parts: ProviderPart[];
}

/** `metadata`: what the provider attached to the part, by its own name. */
export type ProviderPart =
  | { type: 'reasoning'; text: string; metadata?: JsonObject }
  /** The next `length` UTF-16 code units of the turn's text. */
  | { type: 'text'; length: number; metadata?: JsonObject }
  /** The next of the turn's calls. */
  | { type: 'call'; metadata?: JsonObject }
  | { type: 'custom'; kind: `${string}.${string}`; metadata?: JsonObject };

/** A message as a run keeps it. */
export type KeptMessage = Exclude<Message, AnswerOfModel | SaidByUser> | KeptAnswer | KeptInput;

type KeptInput = SaidByUser & {
  /** The agent's check has refused it, and its user has written since: the model does not receive it. */
  refused?: true;
};

type KeptAnswer = AnswerOfModel & {
  providerTurn?: ProviderTurn;
  /** Why this is not a final answer, in the words that the model receives after it. */
  outputProblem?: string;
};

type AnswerOfModel = Extract<Message, { role: 'assistant' }>;
type SaidByUser = Extract<Message, { role: 'user' }>;
