/** Keys and people that the operator's policy takes out of runs that are open. */
import { isObject } from '../base/json.ts';
import { personKey, type PersonKey } from './person-key.ts';

/** What does not count any more, from the next message on. */
export interface Revoked {
  /** Ids of keys in `reviewer_keys`, now or before. */
  keys: readonly string[];
  /** Ids of people. */
  people: readonly string[];
}

/** Reads what a worker says is revoked; undefined if it is nothing, or of another form. */
export function readRevoked(value: unknown): Revoked | undefined {
  if (!isObject(value)) return undefined;
  const { keys, people } = value;
  return isTexts(keys) && isTexts(people) ? { keys, people } : undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** What either revokes: nothing that was revoked counts again in a run. */
export function revokedByEither(one: Revoked | undefined, other: Revoked | undefined): Revoked | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    keys: [...new Set([...one.keys, ...other.keys])],
    people: [...new Set([...one.people, ...other.people])],
  };
}

/** Says who or what is revoked of a sender, as in `key 'ann-laptop'`; undefined if nothing is. */
export function revokedOf(
  revoked: Revoked | undefined,
  { reviewerId, keyId }: { reviewerId?: string; keyId?: string },
  keyOf: PersonKey = personKey,
): string | undefined {
  if (revoked === undefined) return undefined;
  if (keyId !== undefined && revoked.keys.includes(keyId)) return `key '${keyId}'`;
  if (reviewerId === undefined) return undefined;
  return peopleIn(revoked, keyOf).has(keyOf(reviewerId)) ? `'${reviewerId}'` : undefined;
}

const read = new WeakMap<Revoked, { keyOf: PersonKey; people: ReadonlySet<string> }>();

/** The people by their keys. They are asked for again and again, for each vote of each request. */
export function peopleIn(revoked: Revoked, keyOf: PersonKey): ReadonlySet<string> {
  const before = read.get(revoked);
  if (before?.keyOf === keyOf) return before.people;
  const people = new Set(revoked.people.map((id) => keyOf(id)));
  read.set(revoked, { keyOf, people });
  return people;
}

/** `what`: the result of `revokedOf`. */
export function revokedSentence(what: string): string {
  return `${what} is revoked by the operator's policy, and counts no more`;
}
