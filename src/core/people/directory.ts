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
  return isAmong(directory, names)(nfc(personId));
}

/** As `isOneOf`, for many people by their names in NFC: reads `names` only once. */
export function isAmong(directory: Directory | undefined, names: readonly string[]): (personId: string) => boolean {
  const { people, groups } = sorted(names);
  const { groupsOf } = known(directory);
  const all = [...groups];
  return (personId) => {
    if (people.has(personId)) return true;
    const own = all.length === 0 ? undefined : groupsOf.get(personId);
    return own !== undefined && all.some((group) => own.has(group));
  };
}

/** Every person in `names`, once each, in NFC: people named directly, known or not, and known members of groups. */
export function membersOf(directory: Directory | undefined, names: readonly string[]): string[] {
  const { people, groups } = sorted(names);
  if (groups.size === 0) return [...people];
  const isMember = isAmong(directory, names);
  return [...new Set([...people, ...[...known(directory).groupsOf.keys()].filter(isMember)])];
}

/** As `membersOf`, of one name. */
export function membersOfOne(directory: Directory | undefined, name: string): readonly string[] {
  const group = groupOf(name);
  return group === undefined ? [nfc(name)] : (known(directory).idsIn.get(group) ?? []);
}

function sorted(names: readonly string[]): { people: ReadonlySet<string>; groups: ReadonlySet<string> } {
  const people = new Set<string>();
  const groups = new Set<string>();
  for (const name of new Set(names)) {
    const group = groupOf(name);
    if (group === undefined) people.add(nfc(name));
    else groups.add(group);
  }
  return { people, groups };
}

/** What is often asked of a directory, read once: nothing changes a directory. */
interface Known {
  /** By the person's name in NFC. */
  personOf: ReadonlyMap<string, Person>;
  groupsOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** By the group's name in NFC. */
  idsIn: ReadonlyMap<string, readonly string[]>;
}

const nobody: Known = { personOf: new Map(), groupsOf: new Map(), idsIn: new Map() };
const read = new WeakMap<Directory, Known>();

function known(directory: Directory | undefined): Known {
  if (directory === undefined) return nobody;
  const before = read.get(directory);
  if (before !== undefined) return before;
  const personOf = new Map<string, Person>();
  for (const [name, person] of Object.entries(directory.people)) {
    const id = nfc(name);
    // A name that is written in NFC comes before others of the same form.
    if (name === id || !personOf.has(id)) personOf.set(id, person);
  }
  const groupsOf = new Map<string, ReadonlySet<string>>();
  const idsIn = new Map<string, string[]>();
  for (const [id, { groups }] of personOf) {
    const own = new Set(groups.map((group) => nfc(group)));
    groupsOf.set(id, own);
    for (const group of own) {
      const ids = idsIn.get(group);
      if (ids === undefined) idsIn.set(group, [id]);
      else ids.push(id);
    }
  }
  const now = { personOf, groupsOf, idsIn };
  read.set(directory, now);
  return now;
}

/** The group's name in NFC; undefined for the name of a person. */
export function groupOf(name: string): string | undefined {
  return name.startsWith(groupPrefix) ? nfc(name.slice(groupPrefix.length)) : undefined;
}

/** Reads own properties only: names come from messages. */
export function personOf(directory: Directory | undefined, personId: string): Person | undefined {
  return known(directory).personOf.get(nfc(personId));
}
