import type { Problem } from '../core/base/problem.ts';
import { readUserFiles, saidText } from '../core/base/user-files.ts';
import type { RunInput } from './run.ts';

/** Returns why a run refuses this input: a malformed file or an empty message. Undefined if it accepts it. */
export function inputProblem(input: RunInput['input']): Problem | undefined {
  const messages = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  for (const [index, each] of messages.entries()) {
    if (each.role !== 'user') continue;
    if (each.files !== undefined) {
      const read = readUserFiles(each.files, each.content);
      if ('problem' in read) return unfit(read.problem, index);
    }
    if (saidText(each).trim() === '') {
      const message = "The run's 'input' has an empty message of its user: say what the agent shall do";
      return { code: 'arguments_invalid', message };
    }
  }
  return undefined;
}

/** Describes the problem of one message as a problem of a run's input, in which the message has the place `index`. */
export function unfit({ code, message }: Problem, index: number): Problem {
  return { code: code === 'too_large' ? code : 'arguments_invalid', message: `The run's 'input.${index}': ${message}` };
}
