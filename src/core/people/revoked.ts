/** Keys and people that the operator's policy takes out of runs that are open. */
import { personKey, type PersonKey } from './person-key.ts';

/** What does not count any more, from the next message on. */
export interface Revoked {
  /** Ids of keys in `reviewer_keys`, now or before. */
  keys: readonly string[];
  /** Ids of people. */
  people: readonly string[];
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
  const person = keyOf(reviewerId);
  return revoked.people.some((each) => keyOf(each) === person) ? `'${reviewerId}'` : undefined;
}

/** `what`: the result of `revokedOf`. */
export function revokedSentence(what: string): string {
  return `${what} is revoked by the operator's policy, and counts no more`;
}
