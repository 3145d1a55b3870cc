/** One reviewer's seat in one request, given to another person. */
import { nfc } from '../base/normal-text.ts';

export interface Delegation {
  from: string;
  to: string;
}

/** The people a seat passed through: first its owner by the policy, last its holder. */
export type Seat = readonly [string, ...string[]];

/**
 * The seats of one request, by its delegations. The first delegation by a person counts, and one that would close a cycle
 * is ignored, so each seat has exactly one holder. Names in NFC.
 */
export class Seats {
  readonly #given = new Map<string, string>();
  /** Of those who gave theirs away. */
  readonly #held = new Map<string, Seat[]>();

  constructor(delegations: readonly Delegation[]) {
    for (const delegation of delegations) {
      const from = nfc(delegation.from);
      const to = nfc(delegation.to);
      if (!this.#given.has(from) && !this.seatOf(to).includes(from)) this.#given.set(from, to);
    }
    for (const owner of this.#given.keys()) {
      const holder = this.holderOf(owner);
      this.#held.set(holder, [...(this.#held.get(holder) ?? []), this.seatOf(owner)]);
    }
  }

  /** The seats that a person holds: their own, unless they gave it away, and those given to them, also through others. */
  of(id: string): Seat[] {
    const held = this.#held.get(id) ?? [];
    return this.#given.has(id) ? held : [[id], ...held];
  }

  /** The holder of this person's seat: the person, unless they gave it away. */
  holderOf(owner: string): string {
    const seat = this.seatOf(owner);
    return seat.at(-1) ?? seat[0];
  }

  /** The seat of this owner. Terminates because `#given` has no cycle. */
  seatOf(owner: string): Seat {
    const seat: [string, ...string[]] = [owner];
    for (let next = this.#given.get(owner); next !== undefined; next = this.#given.get(next)) seat.push(next);
    return seat;
  }
}

/**
 * The seats that a person holds.
 *
 * @example
 * seatsOf([{ from: 'ann', to: 'bob' }], 'bob'); // => [['bob'], ['ann', 'bob']]
 * seatsOf([{ from: 'ann', to: 'bob' }], 'ann'); // => []
 */
export function seatsOf(delegations: readonly Delegation[], personId: string): Seat[] {
  return new Seats(delegations).of(nfc(personId));
}

/** Returns the holder of this person's seat: the person, unless they gave it away. */
export function holderOf(delegations: readonly Delegation[], personId: string): string {
  return new Seats(delegations).holderOf(nfc(personId));
}
