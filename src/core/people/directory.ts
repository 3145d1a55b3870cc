import { nfc } from '../base/normal-text.ts';

/** The people of a policy, recorded in the run together with it. Names are compared in Unicode NFC. */
export interface Directory {
  /** By name. */
  people: Record<string, Person>;
}

/** A person in a directory. */
export interface Person {
  /** Without the prefix `group:`. */
  groups: readonly string[];
  /** Ids in the ceiling's `reviewer_keys`. */
  keys: readonly string[];
}

const groupPrefix = 'group:';

/**
 * True if a person is one of `names`, each a person's name or `group:NAME`. Without a directory no group has members. A
 * person cannot be called `group:…`, so nobody becomes a group by their name.
 *
 * @example
 * const directory = { people: { ann: { groups: ['finance'], keys: [] } } };
 * isOneOf(directory, 'ann', ['bob', 'group:finance']); // => true
 */
export function isOneOf(directory: Directory | undefined, personId: string, names: readonly string[]): boolean {
  const id = nfc(personId);
  const groups = new Set(personOf(directory, id)?.groups.map((group) => nfc(group)));
  return names.some((name) => {
    const group = groupOf(name);
    return group === undefined ? nfc(name) === id : groups.has(group);
  });
}

/** Every person in `names`, once each, in NFC: people named directly, known or not, and known members of groups. */
export function membersOf(directory: Directory | undefined, names: readonly string[]): string[] {
  const named = names.filter((name) => groupOf(name) === undefined);
  const known = Object.keys(directory?.people ?? {}).filter((id) => isOneOf(directory, id, names));
  return [...new Set([...named, ...known].map((id) => nfc(id)))];
}

/** The group's name in NFC; undefined for the name of a person. */
export function groupOf(name: string): string | undefined {
  return name.startsWith(groupPrefix) ? nfc(name.slice(groupPrefix.length)) : undefined;
}

/** Reads own properties only: names come from messages. */
export function personOf(directory: Directory | undefined, personId: string): Person | undefined {
  if (directory === undefined) return undefined;
  const id = nfc(personId);
  if (Object.hasOwn(directory.people, id)) return directory.people[id];
  const written = Object.keys(directory.people).find((name) => nfc(name) === id);
  return written === undefined ? undefined : directory.people[written];
}
