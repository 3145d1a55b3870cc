/** One reviewer's seat in one request, given to another person. */
import { nfc } from '../base/normal-text.ts';

export interface Delegation {
  from: string;
  to: string;
}

/** The people a seat passed through: first its owner by the policy, last its holder. */
export type Seat = readonly [string, ...string[]];

/**
 * The seats that a person holds: their own, unless they gave it away, and those given to them, directly or through
 * others. The first delegation by a person counts, and one that would close a cycle is ignored, so each seat has
 * exactly one holder. Names in NFC.
 *
 * @example
 * seatsOf([{ from: 'ann', to: 'bob' }], 'bob'); // => [['bob'], ['ann', 'bob']]
 * seatsOf([{ from: 'ann', to: 'bob' }], 'ann'); // => []
 */
export function seatsOf(delegations: readonly Delegation[], personId: string): Seat[] {
  const id = nfc(personId);
  const given = givenSeats(delegations);
  return [...new Set([id, ...given.keys()])].map((owner) => way(given, owner)).filter((seat) => seat.at(-1) === id);
}

/** Returns the holder of this person's seat: the person, unless they gave it away. */
export function holderOf(delegations: readonly Delegation[], personId: string): string {
  const seat = way(givenSeats(delegations), nfc(personId));
  return seat.at(-1) ?? seat[0];
}

function givenSeats(delegations: readonly Delegation[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const delegation of delegations) {
    const from = nfc(delegation.from);
    const to = nfc(delegation.to);
    if (!given.has(from) && !way(given, to).includes(from)) given.set(from, to);
  }
  return given;
}

/** Terminates because `given` has no cycle. */
function way(given: ReadonlyMap<string, string>, owner: string): Seat {
  const seat: [string, ...string[]] = [owner];
  for (let next = given.get(owner); next !== undefined; next = given.get(next)) seat.push(next);
  return seat;
}
