import { ProblemError, type ProblemCode } from '../core/base/problem.ts';
import { optionProblem, type OptionNames } from './unknown-name.ts';

/** Throws a `ProblemError` unless `options` is an object with only `known` keys. */
export function checkCallOptions<Options>(
  place: string,
  options: Options,
  known: OptionNames<Options>,
  code: ProblemCode = 'arguments_invalid',
): void {
  const problem = optionProblem(options, known);
  if (problem !== undefined) throw new ProblemError({ code, message: `${place}: ${problem}` });
}
