import type { Asking } from 'countersign/adapter';
import type { CountersignClient } from 'countersign/client';
import type { Output } from '../base/output.ts';

/** The questions about one request. They reject as soon as the request changes or the input ends. */
export interface Questions {
  readonly print: (text: string) => void;
  /** Asks for a line that decides. */
  readonly answer: (question: string) => Promise<string>;
  /** Asks for a text. Undefined: the reviewer goes back. */
  readonly text: (question: string) => Promise<string | undefined>;
}

/** The terminal, the client and the output that every question of `review` uses. */
export interface Context {
  questions: Questions;
  client: CountersignClient;
  output: Output;
}

export class InputEnded extends Error {}

/** Returns questions that reject with the reason of `changed` when it aborts, or `InputEnded` when the input ends. */
export function questionsUntil({ print, answer, text }: Asking, changed: AbortSignal): Questions {
  const line = async (asked: Promise<string | undefined>): Promise<string> => {
    const entered = await asked;
    if (entered === undefined) throw new InputEnded();
    return entered;
  };
  return {
    print,
    answer: (question) => line(answer(question, changed)),
    text: async (question) => {
      const entered = await line(text(question, changed));
      // A single full stop ends a question for text without an answer.
      return entered.trim() === '.' ? undefined : entered;
    },
  };
}
