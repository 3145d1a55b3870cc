import type { RunBook } from './run-book.ts';
import type { PlannedDelegation } from './planned-control.ts';
import type { SentControl } from './sent-control.ts';

/** Who decides one request in whose place, told on from each delegation, without the product's own account of it. */
export interface Seats {
  /** Whether this person holds a reviewer's seat now, their own or another's. */
  holds(person: string): boolean;
  move(from: string, to: string): void;
}

/** Where nobody is named, everyone decides. */
export function seatsOf(reviewers: readonly string[]): Seats {
  const holders = new Map(reviewers.map((owner) => [owner, owner]));
  /** To whom people sent those who asked them. */
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
 * True where a person's word on a request counted for sure when it was sent: they never set out to give their seat away,
 * and had it from the beginning or knew that it was given to them.
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
