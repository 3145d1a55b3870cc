import { optionProblem, type OptionNames } from '../text/unknown-name.ts';
import { DefinitionError } from './definition-error.ts';

/**
 * Throws a `DefinitionError` unless `options` is an object with only `known` keys. `listed` says in words which those are.
 */
export function checkOptions<Options>(
  place: string,
  options: Options,
  known: readonly string[] | OptionNames<Options>,
  listed?: string,
): void {
  const problem = optionProblem(options, known, listed);
  if (problem !== undefined) throw new DefinitionError(`${place}: ${problem}`);
}

/** Throws a `DefinitionError` unless `value` is an integer from 1 to `max`. */
export function checkPositiveInteger(place: string, value: unknown, max: number): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > max) {
    throw new DefinitionError(`${place}: expected a whole number from 1 to ${max}`);
  }
}
