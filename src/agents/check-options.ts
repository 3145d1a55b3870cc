import { optionProblem, type OptionNames } from '../text/check-call-options.ts';

/** Throws a `DefinitionError` unless `options` is an object with only `known` keys. `listed` names these in words. */
export function checkOptions<Options>(
  place: string,
  options: Options,
  known: readonly string[] | OptionNames<Options>,
  listed?: string,
): void {
  const problem = optionProblem(options, known, listed);
  if (problem !== undefined) throw new DefinitionError(`${place}: ${problem}`);
}

export function checkPositiveInteger(place: string, value: unknown, max: number): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > max) {
    throw new DefinitionError(`${place}: expected a whole number from 1 to ${max}`);
  }
}

/**
 * Thrown by `defineTool`, `createWorker` and the like for invalid options. `message` is one sentence.
 *
 * @example
 * ```ts
 * import { DefinitionError, defineAgent, scriptedModel } from 'countersign';
 *
 * try {
 *   defineAgent({ name: 'support', instructions: 'Help.', model: scriptedModel([]), maxTurns: 0 });
 * } catch (error) {
 *   if (error instanceof DefinitionError) console.log(error.message);
 *   // agent 'support': maxTurns: expected a whole number from 1 to 100000
 * }
 * ```
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError' as const;
}

export type Fail = (problem: string) => never;

/** Returns a function that throws a `DefinitionError` whose message begins with `place`. */
export function failAt(place: string): Fail {
  return (problem) => {
    throw new DefinitionError(`${place}: ${problem}`);
  };
}
