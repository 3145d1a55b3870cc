/** How people are shown: by name, with the id that decides beside it. */
import { isObject } from '../base/is-object.ts';
import { shortened } from '../base/shortened.ts';
import { type NamedPerson, personKeyIn } from './directory.ts';

const longestName = 60;

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

/**
 * How the people of a request are shown: as `shownPerson` does, by the name that the operator's directory (`people`) gives
 * to any of their ids, else by the one that the sender of their decision gave. Never throws, whatever `people` is.
 */
export function personsShown(people: Readonly<Record<string, NamedPerson>> | undefined): typeof shownPerson {
  if (!isObject(people)) return shownPerson;
  const keyOf = personKeyIn({ people });
  const names = new Map<string, string>();
  for (const [id, person] of Object.entries(people)) {
    const name: unknown = isObject(person) ? person['name'] : undefined;
    if (typeof name === 'string') names.set(keyOf(id), name);
  }
  return (id, name) => shownPerson(id, names.get(keyOf(id)) ?? name);
}
