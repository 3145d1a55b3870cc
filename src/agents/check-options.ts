import { unknownName } from '../text/unknown-name.ts';
import { DefinitionError } from './definition-error.ts';

/** Throws a `DefinitionError` unless `options` is an object with only `known` keys. `listed` says in words which those are. */
export function checkOptions(place: string, options: unknown, known: readonly string[], listed?: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new DefinitionError(`${place}: expected an object with ${known.join(', ')}`);
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new DefinitionError(`${place}: ${unknownName('option', key, known, listed)}`);
    }
  }
}

/** Throws a `DefinitionError` unless `value` is an integer from 1 to `max`. */
export function checkPositiveInteger(place: string, value: unknown, max: number): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > max) {
    throw new DefinitionError(`${place}: expected a whole number from 1 to ${max}`);
  }
}
