import { maxShown } from '../core/policy/policy.ts';
import { DefinitionError } from './definition-error.ts';

/** Reads the option `show` of a tool or a gated activity. A name that a call has no argument of shows nothing. */
export function readShow(place: string, show: unknown): { show?: readonly string[] } {
  if (show === undefined) return {};
  const isName = (name: unknown): boolean => typeof name === 'string' && name !== '' && name.length <= 200;
  if (Array.isArray(show) && show.length <= maxShown && show.every(isName) && new Set(show).size === show.length) {
    return { show: Object.freeze([...(show as string[])]) };
  }
  throw new DefinitionError(
    `${place}: show must be a list of at most ${maxShown} different argument names, such as ['amount', 'recipient']`,
  );
}
