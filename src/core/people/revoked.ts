import { isObject } from '../base/json.ts';
import { personKey, type PersonKey } from './directory.ts';

/** The revoked keys and people. From the next message on, what they send does not count. */
export interface Revoked {
  /** Ids of keys in `reviewer_keys`, now or before. */
  keys: readonly string[];
  people: readonly string[];
}

/** The revocations in a worker's answer; undefined if the answer has none in the right form. */
export function readRevoked(value: unknown): Revoked | undefined {
  if (!isObject(value)) return undefined;
  const { keys, people } = value;
  return isTexts(keys) && isTexts(people) ? { keys, people } : undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** The union of two revocations: within a run, a revocation is never taken back. */
export function revokedByEither(one: Revoked | undefined, other: Revoked | undefined): Revoked | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    keys: [...new Set([...one.keys, ...other.keys])],
    people: [...new Set([...one.people, ...other.people])],
  };
}

/** Which key or name of a sender is revoked, as text such as `key 'ann-laptop'`; undefined if none is. */
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

/** The person keys of the revoked people. Cached, because each vote of each request is compared with them. */
export function peopleIn(revoked: Revoked, keyOf: PersonKey): ReadonlySet<string> {
  const before = read.get(revoked);
  if (before?.keyOf === keyOf) return before.people;
  const people = new Set(revoked.people.map((id) => keyOf(id)));
  read.set(revoked, { keyOf, people });
  return people;
}

/** The sentence for a revoked sender. `what` is the result of `revokedOf`. */
export function revokedSentence(what: string): string {
  return `${what} is revoked by the operator's policy, and counts no more`;
}
