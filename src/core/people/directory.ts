import { isObject } from '../base/json.ts';
import { nfc, shortened } from '../base/text.ts';

/** The people of a policy, which the run records with the policy. Code compares their keys, not their names. */
export interface Directory {
  /** The people, by name. */
  people: Record<string, Person>;
}

/** A person in a directory. */
export interface Person extends NamedPerson {
  /** Without the prefix `group:`. */
  groups: readonly string[];
  /** Ids in the ceiling's `reviewer_keys`. */
  keys: readonly string[];
  /** The times when another person decides in their place. Only in the operator's directory. */
  away?: readonly Absence[];
}

/** An absence. Of requests that open during it, the deputy gets the person's seat. */
export interface Absence {
  /** ISO 8601, with `Z`. */
  fromAt: string;
  /** ISO 8601, with `Z`: the first instant after the absence. */
  untilAt: string;
  /** The deputy's id. */
  deputy: string;
}

/** The further names of a person. Only the operator's directory has them. */
export interface NamedPerson {
  /** A name to show beside the id. No decision depends on it. */
  name?: string;
  /** Their other ids, such as an e-mail address or the id of a provider. */
  also?: readonly string[];
}

const groupPrefix = 'group:';

/**
 * True if a person is one of `names`, which are people or `group:NAME`. Without a directory, groups have no members.
 * No person can pass for a group, because no person can be called `group:…`.
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

/** Returns `isOneOf` as a function of a person key, so that `names` are read once for many people. */
export function isAmong(
  directory: Directory | undefined,
  names: readonly string[],
  keyOf: PersonKey = personKey,
): (key: string) => boolean {
  const { people, groups } = peopleAndGroups(names, keyOf);
  const { personOf } = directoryIndex(directory, keyOf);
  const groupKeys = [...groups];
  return (key) => {
    if (people.has(key)) return true;
    const groupsOfPerson = groupKeys.length === 0 ? undefined : personOf.get(key)?.groups;
    return groupsOfPerson !== undefined && groupKeys.some((group) => groupsOfPerson.has(group));
  };
}

/** The people in `names`, known or not, and the known members of groups: each once, as the directory spells them. */
export function membersOf(
  directory: Directory | undefined,
  names: readonly string[],
  keyOf: PersonKey = personKey,
): string[] {
  const { people, groups } = peopleAndGroups(names, keyOf);
  const { personOf } = directoryIndex(directory, keyOf);
  const members = new Map([...people].map(([key, name]) => [key, personOf.get(key)?.name ?? name]));
  if (groups.size > 0) {
    const isMember = isAmong(directory, names, keyOf);
    for (const [key, { name }] of personOf) if (isMember(key)) members.set(key, name);
  }
  return [...members.values()];
}

/** The person keys of the members of one group, or the key of one person. */
export function membersOfOne(
  directory: Directory | undefined,
  name: string,
  keyOf: PersonKey = personKey,
): readonly string[] {
  const group = groupOf(name);
  return group === undefined
    ? [keyOf(name)]
    : (directoryIndex(directory, keyOf).keysIn.get(groupKeyOf(keyOf)(group)) ?? []);
}

/** The names separated into people and groups, by their keys. */
function peopleAndGroups(
  names: readonly string[],
  keyOf: PersonKey,
): { people: ReadonlyMap<string, string>; groups: ReadonlySet<string> } {
  const people = new Map<string, string>();
  const groups = new Set<string>();
  for (const name of new Set(names)) {
    const group = groupOf(name);
    if (group !== undefined) groups.add(groupKeyOf(keyOf)(group));
    else if (!people.has(keyOf(name))) people.set(keyOf(name), nfc(name));
  }
  return { people, groups };
}

interface IndexedPerson {
  name: string;
  person: Person;
  /** The keys of the groups that the person is in. */
  groups: ReadonlySet<string>;
}

/** An index of a directory, made only once: a directory never changes. */
interface DirectoryIndex {
  /** The people, by the keys of their names. */
  personOf: ReadonlyMap<string, IndexedPerson>;
  /** The keys of people, by the group's key. */
  keysIn: ReadonlyMap<string, readonly string[]>;
}

const emptyIndex: DirectoryIndex = { personOf: new Map(), keysIn: new Map() };
const indexes = new WeakMap<Directory, Map<PersonKey, DirectoryIndex>>();

/** The index of a directory under a key function. Kept, because rulings read it again and again. */
function directoryIndex(directory: Directory | undefined, keyOf: PersonKey): DirectoryIndex {
  if (directory === undefined) return emptyIndex;
  const known = indexes.get(directory) ?? new Map<PersonKey, DirectoryIndex>();
  indexes.set(directory, known);
  const index = known.get(keyOf) ?? indexOf(directory, keyOf);
  known.set(keyOf, index);
  return index;
}

/** Makes the index of a directory, which `directoryIndex` keeps. */
function indexOf({ people }: Directory, keyOf: PersonKey): DirectoryIndex {
  const personOf = new Map<string, IndexedPerson>();
  for (const [name, person] of Object.entries(people)) {
    const key = keyOf(name);
    const groups = new Set(person.groups.map((group) => groupKeyOf(keyOf)(group)));
    // If several names have the same key, the name that is spelled like the key counts.
    if (name === key || !personOf.has(key)) personOf.set(key, { name: nfc(name), person, groups });
  }
  const keysIn = new Map<string, string[]>();
  for (const [key, { groups }] of personOf) {
    for (const group of groups) {
      const keys = keysIn.get(group);
      if (keys === undefined) keysIn.set(group, [key]);
      else keys.push(key);
    }
  }
  return { personOf, keysIn };
}

const aliased = new WeakMap<object, Map<PersonKey, PersonKey>>();
/** For each key function that `personKeyIn` made: the function without further ids, for the names of groups. */
const spelling = new WeakMap<PersonKey, PersonKey>();

function groupKeyOf(keyOf: PersonKey): PersonKey {
  return spelling.get(keyOf) ?? keyOf;
}

/**
 * Returns a key function that gives each id in `also` the key of its person. Only the operator's directory may list
 * such ids: otherwise, the author of a run could take another person's seat.
 *
 * @example
 * const directory = { people: { ann: { groups: [], keys: [], also: ['u-17'] } } };
 * personKeyIn(directory)('U-17'); // => 'ann'
 */
export function personKeyIn(
  directory: { people?: Readonly<Record<string, NamedPerson>> } | undefined,
  keyOf: PersonKey = personKey,
): PersonKey {
  const { people } = directory ?? {};
  if (people === undefined) return keyOf;
  // Returns the same function each time, so that indexes cached under that function are found.
  const made = aliased.get(people) ?? new Map<PersonKey, PersonKey>();
  aliased.set(people, made);
  const known = made.get(keyOf);
  if (known !== undefined) return known;
  const ownerOf = new Map<string, string>();
  for (const [name, person] of Object.entries(people)) {
    const key = keyOf(name);
    for (const id of idsOf(person)) ownerOf.set(keyOf(id), key);
  }
  const keyOfOwner = (name: string): string => {
    const key = keyOf(name);
    return ownerOf.get(key) ?? key;
  };
  const keyInPeople = ownerOf.size === 0 ? keyOf : keyOfOwner;
  made.set(keyOf, keyInPeople);
  // Groups have no further ids, so `groupKeyOf` compares their names by the function without them.
  spelling.set(keyInPeople, keyOf);
  return keyInPeople;
}

/** The further ids of a person. Accepts any value, because people also come from answers of other workflows. */
function idsOf(person: unknown): string[] {
  const also: unknown = isObject(person) ? person['also'] : undefined;
  return Array.isArray(also) ? also.filter((id) => typeof id === 'string') : [];
}

/** All ids of these people: the given ones, and those that the directory lists for the same people. */
export function allIdsOf(
  directory: Directory | undefined,
  ids: readonly string[],
  keyOf: PersonKey = personKey,
): string[] {
  const { personOf } = directoryIndex(directory, keyOf);
  const found = ids.flatMap((id) => personOf.get(keyOf(id)) ?? []);
  return [...new Set([...ids, ...found.flatMap(({ name, person }) => [name, ...idsOf(person)])])];
}

/** The names and further ids of the people that `ids` name, in any spelling; undefined if `people` has none of them. */
export function namesIn(
  people: Readonly<Record<string, NamedPerson>> | undefined,
  ids: readonly (string | null | undefined)[],
  keyOf: PersonKey,
): Record<string, NamedPerson> | undefined {
  const keys = new Set(ids.flatMap((id) => (id == null ? [] : [keyOf(id)])));
  const named = Object.entries(people ?? {}).flatMap(([id, { name, also }]) => {
    const isAsked = keys.has(keyOf(id)) && (name !== undefined || also !== undefined);
    return isAsked ? [[id, { ...(name !== undefined && { name }), ...(also !== undefined && { also }) }] as const] : [];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

/** The name of the group in `group:NAME`; undefined for the name of a person. */
export function groupOf(name: string): string | undefined {
  return name.startsWith(groupPrefix) ? nfc(name.slice(groupPrefix.length)) : undefined;
}

export function personOf(
  directory: Directory | undefined,
  personId: string,
  keyOf: PersonKey = personKey,
): Person | undefined {
  return directoryIndex(directory, keyOf).personOf.get(keyOf(personId))?.person;
}

const longestName = 60;

/**
 * A person as people read it: `Ann Lee (8f3c)`. Only the id identifies: round brackets in a name become square, so that
 * only the id is in round ones. Without a name, the id alone. Invisible characters are not escaped yet.
 */
export function shownPerson(id: string, name?: string): string {
  const called = shortened(name ?? '', longestName)
    .replaceAll('(', '[')
    .replaceAll(')', ']')
    .trim();
  return called === '' || called === id ? id : `${called} (${id})`;
}

/** Returns `shownPerson` with the operator's names (`people`) before those of decisions. Never throws. */
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

/** Returns the same key for all names of one person, and different keys for different people. */
export type PersonKey = (name: string) => string;

// Made from strings, because the bundler of workflow code writes out each property as hundreds of ranges.
const unseen = new RegExp(String.raw`[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+`, 'gu');

/**
 * Returns a name in NFC and small letters, without invisible characters, with single blanks. A name of invisible
 * characters only stays. Letters that are equal only as capitals (`ß` and `ss`, `ı` and `i`) stay different:
 * addresses that differ in them can belong to different people. Keys are compared, never shown.
 *
 * @example
 * personKey('Ann@Acme.com') === personKey('ann@acme.com'); // => true
 */
export function personKey(name: string): string {
  if (plain.test(name)) return name;
  const seen = name.replaceAll(unseen, '').replaceAll(/\s+/gu, ' ').trim();
  // Sigma has another small form at the end of a word.
  const folded = nfc(nfc(seen).toLowerCase().replaceAll('ς', 'σ'));
  return folded === '' ? nfc(name) : folded;
}

/** A wider key: equal for names whose capital letters are equal. For prohibitions, which must apply in doubt. */
export function widely(key: string): string {
  return plain.test(key) ? key : nfc(key.toUpperCase().toLowerCase());
}

const plain = /^[!-@[-~]+$/;

/** True if both are names of the same person. An absent name is not equal to any name. */
export function isSamePerson(
  one: string | null | undefined,
  other: string | null | undefined,
  keyOf: PersonKey = personKey,
): boolean {
  return one != null && other != null && keyOf(one) === keyOf(other);
}
