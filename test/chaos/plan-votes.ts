import { planCrowd } from './plan-crowd.ts';
import type { PlannedItem, PlannedSend } from './schedule.ts';
import type { PlannedWhen } from './planned-when.ts';
import type { TurnPlanner } from './turn-planner.ts';

/** Plans the votes on a turn's requests when one approval is not enough. `asked` holds the indices of the calls. */
export function planVotes(planner: TurnPlanner, asked: readonly number[]): PlannedSend[] {
  const { random, brief, nested, reviewers, soon, decision, send } = planner;
  const by = (call: number, reviewerId: string, approved: boolean): PlannedItem =>
    decision(call, { reviewerId, approved });
  const everybody = (call: number, approves: () => boolean): PlannedItem[] =>
    random.shuffled(reviewers).map((reviewerId) => by(call, reviewerId, approves()));
  const each = (items: readonly PlannedItem[], when: () => PlannedWhen = soon): PlannedSend[] =>
    items.map((item) => send(when(), item));
  /** Everybody votes at the end, unless the requests are brief. */
  const inTheEnd = (call: number): PlannedSend[] =>
    brief
      ? []
      : each(
          everybody(call, () => true),
          () => ({ afterMs: 1_400 + random.whole(0, 200) }),
        );
  const yes = (): boolean => true;
  const divided = (): boolean => random.chance(0.6);

  const ways = {
    agreed: (call: number) => each(everybody(call, yes)),
    divided: (call: number) => [...each(everybody(call, divided)), ...inTheEnd(call)],
    twice: (call: number) => {
      const [first, ...others] = everybody(call, yes);
      return [...each([first!, first!, by(call, first!.reviewerId, true)]), ...each(others), send('settled', first!)];
    },
    withdrawn: (call: number) => {
      const [first, ...others] = everybody(call, yes);
      const denial = by(call, first!.reviewerId, false);
      const later = (): PlannedWhen => ({ afterMs: random.whole(200, 900) });
      return [send({ afterMs: 0 }, first!), send({ afterMs: 150 }, denial), ...each(others, later), ...inTheEnd(call)];
    },
    crowd: (call: number) => [...planCrowd(planner, everybody(call, divided)), ...inTheEnd(call)],
    oneOnly: (call: number) => [...each(everybody(call, yes).slice(0, 1)), ...inTheEnd(call)],
    atDeadline: (call: number) => each(everybody(call, yes), () => ({ beforeDeadlineMs: random.whole(-60, 60) })),
  };
  if (asked.length > 1 && random.chance(0.3)) {
    // Each person answers all requests of the turn in one batch.
    return [
      ...reviewers.map((reviewerId) => send(soon(), ...asked.map((call) => by(call, reviewerId, divided())))),
      ...asked.flatMap(inTheEnd),
    ];
  }
  if (asked.length > 1 && random.chance(0.6)) {
    const good = asked.flatMap((call) => everybody(call, divided));
    return [...planCrowd(planner, good), ...asked.flatMap(inTheEnd)];
  }
  const weights = {
    agreed: 3,
    divided: 3,
    twice: 2,
    withdrawn: 2,
    crowd: nested.length > 0 ? 9 : 3,
    oneOnly: 1,
    atDeadline: brief ? 3 : 0,
  };
  return asked.flatMap((call) => ways[random.weighted<keyof typeof ways>(weights)](call));
}
