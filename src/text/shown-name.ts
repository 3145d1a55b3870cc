import { shortened } from '../core/base/shortened.ts';
import { visibleText } from './visible-text.ts';

const longestName = 60;

/** A name in a notification: bounded, and without anything invisible. */
export function shownName(name: string): string {
  return shortened(visibleText(shortened(name, longestName).toWellFormed()), longestName);
}

/**
 * A person as people read it: their name, if one is known, with their id beside it, as in `Ann Lee (8f3c)`. The id says who
 * it is; a name proves nothing, and two people may have the same. Not made visible yet. Only the id is in the last
 * brackets: those of a name are square.
 */
export function shownPerson(id: string, name?: string): string {
  const called = shortened(name ?? '', longestName)
    .replaceAll('(', '[')
    .replaceAll(')', ']')
    .trim();
  return called === '' || called === id ? id : `${called} (${id})`;
}
