import { nfc } from '../base/text.ts';
import { personKey, type PersonKey } from './directory.ts';

/** A seat that `from` no longer has: `to` decides in their place. */
export interface Delegation {
  from: string;
  to: string;
  /** `operator`: an operator moved the seat. `away`: the operator's directory did. Absent: its holder gave it. */
  by?: 'operator' | 'away';
  /** The operator who moved the seat. */
  movedBy?: string;
  /** The id of the key that signed the message. Absent: the message was not signed. */
  keyId?: string;
}

/** Adds a delegation. If it is from a person to the same person, it takes back the seat that they gave away. */
export function withDelegation<Given extends Delegation>(
  delegations: readonly Given[],
  more: Given,
  keyOf: PersonKey = personKey,
): Given[] {
  const from = keyOf(more.from);
  if (keyOf(more.to) !== from) return [...delegations, more];
  return delegations.filter((each) => keyOf(each.from) !== from);
}

/** The reviewers after delegations: delegates take the place of those who delegated. */
export function withDelegates(reviewers: readonly string[], delegations: readonly Delegation[]): string[] {
  const asked = new Set(reviewers);
  for (const { from, to } of delegations) {
    asked.delete(from);
    asked.add(to);
  }
  return [...asked];
}

/** The keys of the people that a seat passed through: its owner by the policy first, its holder last. */
export type Seat = readonly [string, ...string[]];

/**
 * The seats of one request, by person keys. Each seat has exactly one holder, because only the first delegation of a
 * person counts, and a delegation that would close a cycle is ignored.
 */
export class Seats {
  readonly #given = new Map<string, string>();
  /** The seats that were given away, by their present holder. */
  readonly #held = new Map<string, Seat[]>();
  /** The names of delegates, as the delegations spell them, by person key. */
  readonly #names = new Map<string, string>();

  constructor(delegations: readonly Delegation[], keyOf: PersonKey = personKey) {
    for (const delegation of delegations) {
      const from = keyOf(delegation.from);
      const to = keyOf(delegation.to);
      if (!this.#names.has(to)) this.#names.set(to, nfc(delegation.to));
      if (!this.#given.has(from) && !this.seatOf(to).includes(from)) this.#given.set(from, to);
    }
    for (const owner of this.#given.keys()) {
      const holder = this.holderOf(owner);
      this.#held.set(holder, [...(this.#held.get(holder) ?? []), this.seatOf(owner)]);
    }
  }

  /** The name under which a person was given a seat; else the person key itself. */
  nameOf(key: string): string {
    return this.#names.get(key) ?? key;
  }

  /** The seats of a person: their own, unless given away, and those given to them, perhaps through others. */
  of(id: string): Seat[] {
    const held = this.#held.get(id) ?? [];
    return this.#given.has(id) ? held : [[id], ...held];
  }

  holderOf(owner: string): string {
    const seat = this.seatOf(owner);
    return seat.at(-1) ?? seat[0];
  }

  /** The people that the owner's seat passed through. The loop ends because `#given` has no cycle. */
  seatOf(owner: string): Seat {
    const seat: [string, ...string[]] = [owner];
    for (let next = this.#given.get(owner); next !== undefined; next = this.#given.get(next)) seat.push(next);
    return seat;
  }
}

/**
 * The seats that a person holds, each as the keys of the people that it passed through.
 *
 * @example
 * seatsOf([{ from: 'ann', to: 'bob' }], 'bob'); // => [['bob'], ['ann', 'bob']]
 * seatsOf([{ from: 'ann', to: 'bob' }], 'ann'); // => []
 */
export function seatsOf(delegations: readonly Delegation[], personId: string, keyOf: PersonKey = personKey): Seat[] {
  return new Seats(delegations, keyOf).of(keyOf(personId));
}
