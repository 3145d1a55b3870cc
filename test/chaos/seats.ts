import type { RunBook } from './run-book.ts';
import type { PlannedDelegation } from './planned-control.ts';
import type { SentControl } from './sent-control.ts';

/**
 * Tracks who may decide one request and for whom, from the delegations. Independent of the product's own
 * implementation.
 */
export interface Seats {
  /** True if this person holds a reviewer's seat now, their own or somebody else's. */
  holds(person: string): boolean;
  move(from: string, to: string): void;
}

/** If the plan names no reviewers, everyone decides. */
export function seatsOf(reviewers: readonly string[]): Seats {
  const holders = new Map(reviewers.map((owner) => [owner, owner]));
  /** To whom each person delegated. */
  const gone = new Map<string, string>();
  return {
    holds: (person) => reviewers.length === 0 || [...holders.values()].includes(person),
    move: (from, to) => {
      let holder = to;
      while (gone.has(holder) && holder !== from) holder = gone.get(holder)!;
      gone.set(from, holder);
      for (const [owner, before] of holders) if (before === from) holders.set(owner, holder);
    },
  };
}

export function isDelegation(sent: SentControl): sent is SentControl & { control: PlannedDelegation } {
  return sent.control.kind === 'delegate' && sent.control.fault === undefined;
}

/**
 * True if the person certainly had a seat when the message was sent: they never tried to delegate it, and either had it
 * from the beginning or had been told that it was delegated to them.
 */
export function surelySeated(
  { plan, controls }: RunBook,
  requestId: string,
  { person, sentAtMs }: { person: string; sentAtMs: number },
): boolean {
  if (plan.reviewers.length === 0) return true;
  const delegations = controls.filter((each) => isDelegation(each) && each.requestId === requestId) as (SentControl & {
    control: PlannedDelegation;
  })[];
  if (delegations.some(({ control }) => control.by === person)) return false;
  const wasTold = ({ control, answer, answeredAtMs }: (typeof delegations)[number]): boolean =>
    control.to === person && answer.kind === 'receipt' && answer.receipt.accepted && answeredAtMs < sentAtMs;
  return plan.reviewers.includes(person) || delegations.some(wasTold);
}
