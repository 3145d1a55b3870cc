import type { Problem } from '../core/base/problem.ts';
import { readUserFiles, saidText } from '../core/base/user-files.ts';
import type { RunInput } from './run.ts';

/** Returns why a run refuses this input: a malformed file or an empty message. Undefined if it accepts it. */
export function inputProblem(input: RunInput['input']): Problem | undefined {
  const messages = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  for (const [index, sent] of messages.entries()) {
    if (sent.role !== 'user') continue;
    if (sent.files !== undefined) {
      const read = readUserFiles(sent.files, sent.content);
      if ('problem' in read) return problemOfInput(read.problem, index);
    }
    if (saidText(sent).trim() === '') {
      const message = "The run's 'input' has an empty message of its user: say what the agent shall do";
      return { code: 'arguments_invalid', message };
    }
  }
  return undefined;
}

/** Returns the problem of the message at `index` as a problem of the run's input, with the place in its sentence. */
export function problemOfInput({ code, message }: Problem, index: number): Problem {
  return { code: code === 'too_large' ? code : 'arguments_invalid', message: `The run's 'input.${index}': ${message}` };
}
