/** Who is who: the people of a policy, recorded in the run with it. Names are compared in Unicode NFC. */
export interface Directory {
  people: Record<string, Person>;
}

export interface Person {
  groups: readonly string[];
  /** Ids under the ceiling's `reviewer_keys`. */
  keys: readonly string[];
}

const groupPrefix = 'group:';

/**
 * Whether a person is one of `names`: a person's name, or `group:NAME`, whose members only the directory knows. Without
 * a directory no group has a member. A person cannot be called `group:…`, so nobody becomes a group by their name.
 *
 * @example
 * const directory = { people: { ann: { groups: ['finance'], keys: [] } } };
 * isOneOf(directory, 'ann', ['bob', 'group:finance']); // => true
 */
export function isOneOf(directory: Directory | undefined, personId: string, names: readonly string[]): boolean {
  const id = personId.normalize('NFC');
  const groups = new Set(personOf(directory, id)?.groups.map((group) => group.normalize('NFC')));
  return names.some((name) => {
    const group = groupOf(name);
    return group === undefined ? name.normalize('NFC') === id : groups.has(group);
  });
}

/** Everybody who is one of `names`, each once, in NFC: those named, known or not, and the known members of groups. */
export function membersOf(directory: Directory | undefined, names: readonly string[]): string[] {
  const named = names.filter((name) => groupOf(name) === undefined);
  const known = Object.keys(directory?.people ?? {}).filter((id) => isOneOf(directory, id, names));
  return [...new Set([...named, ...known].map((id) => id.normalize('NFC')))];
}

/** The group's name in NFC, or undefined for a person's. */
export function groupOf(name: string): string | undefined {
  return name.startsWith(groupPrefix) ? name.slice(groupPrefix.length).normalize('NFC') : undefined;
}

/** By own property only: names come from the wire. */
export function personOf(directory: Directory | undefined, personId: string): Person | undefined {
  if (directory === undefined) return undefined;
  const id = personId.normalize('NFC');
  if (Object.hasOwn(directory.people, id)) return directory.people[id];
  const written = Object.keys(directory.people).find((name) => name.normalize('NFC') === id);
  return written === undefined ? undefined : directory.people[written];
}
