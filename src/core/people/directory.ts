import { nfc } from '../base/normal-text.ts';
import { personKey, type PersonKey } from './person-key.ts';

/** The people of a policy, recorded in the run together with it. Names are compared by their key (person-key.ts). */
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
 * isOneOf(directory, 'Ann', ['bob', 'group:finance']); // => true
 */
export function isOneOf(
  directory: Directory | undefined,
  personId: string,
  names: readonly string[],
  keyOf: PersonKey = personKey,
): boolean {
  return isAmong(directory, names, keyOf)(keyOf(personId));
}

/** As `isOneOf`, for many people by their keys: reads `names` only once. */
export function isAmong(
  directory: Directory | undefined,
  names: readonly string[],
  keyOf: PersonKey = personKey,
): (key: string) => boolean {
  const { people, groups } = sorted(names, keyOf);
  const { personOf } = known(directory, keyOf);
  const all = [...groups];
  return (key) => {
    if (people.has(key)) return true;
    const own = all.length === 0 ? undefined : personOf.get(key)?.groups;
    return own !== undefined && all.some((group) => own.has(group));
  };
}

/**
 * Every person in `names`, once each: people named directly, known or not, and known members of groups. As the directory
 * writes them, or else `names`.
 */
export function membersOf(
  directory: Directory | undefined,
  names: readonly string[],
  keyOf: PersonKey = personKey,
): string[] {
  const { people, groups } = sorted(names, keyOf);
  const { personOf } = known(directory, keyOf);
  const members = new Map([...people].map(([key, name]) => [key, personOf.get(key)?.name ?? name]));
  if (groups.size > 0) {
    const isMember = isAmong(directory, names, keyOf);
    for (const [key, { name }] of personOf) if (isMember(key)) members.set(key, name);
  }
  return [...members.values()];
}

/** As `membersOf`, of one name, by their keys. */
export function membersOfOne(
  directory: Directory | undefined,
  name: string,
  keyOf: PersonKey = personKey,
): readonly string[] {
  const group = groupOf(name);
  return group === undefined ? [keyOf(name)] : (known(directory, keyOf).keysIn.get(keyOf(group)) ?? []);
}

function sorted(
  names: readonly string[],
  keyOf: PersonKey,
): { people: ReadonlyMap<string, string>; groups: ReadonlySet<string> } {
  const people = new Map<string, string>();
  const groups = new Set<string>();
  for (const name of new Set(names)) {
    const group = groupOf(name);
    if (group !== undefined) groups.add(keyOf(group));
    else if (!people.has(keyOf(name))) people.set(keyOf(name), nfc(name));
  }
  return { people, groups };
}

/** What is often asked of a directory, read once: nothing changes a directory. */
interface Known {
  /** By the person's key. `groups`: by their keys. */
  personOf: ReadonlyMap<string, { name: string; person: Person; groups: ReadonlySet<string> }>;
  /** The keys of people, by the group's key. */
  keysIn: ReadonlyMap<string, readonly string[]>;
}

const nobody: Known = { personOf: new Map(), keysIn: new Map() };
const read = new WeakMap<Directory, Map<PersonKey, Known>>();

function known(directory: Directory | undefined, keyOf: PersonKey): Known {
  if (directory === undefined) return nobody;
  const before = read.get(directory) ?? new Map<PersonKey, Known>();
  read.set(directory, before);
  const found = before.get(keyOf);
  if (found !== undefined) return found;
  const personOf = new Map<string, { name: string; person: Person; groups: ReadonlySet<string> }>();
  for (const [name, person] of Object.entries(directory.people)) {
    const key = keyOf(name);
    // A name that is written as its key comes before others of the same key.
    if (name === key || !personOf.has(key)) {
      personOf.set(key, { name: nfc(name), person, groups: new Set(person.groups.map((group) => keyOf(group))) });
    }
  }
  const keysIn = new Map<string, string[]>();
  for (const [key, { groups }] of personOf) {
    for (const group of groups) {
      const keys = keysIn.get(group);
      if (keys === undefined) keysIn.set(group, [key]);
      else keys.push(key);
    }
  }
  const now = { personOf, keysIn };
  before.set(keyOf, now);
  return now;
}

/** The group's name; undefined for the name of a person. */
export function groupOf(name: string): string | undefined {
  return name.startsWith(groupPrefix) ? nfc(name.slice(groupPrefix.length)) : undefined;
}

/** Reads own properties only: names come from messages. */
export function personOf(
  directory: Directory | undefined,
  personId: string,
  keyOf: PersonKey = personKey,
): Person | undefined {
  return known(directory, keyOf).personOf.get(keyOf(personId))?.person;
}
