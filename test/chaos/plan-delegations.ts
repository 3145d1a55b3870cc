import type { PlannedSend } from './schedule.ts';
import type { PlannedActs, TurnPlanner } from './turn-planner.ts';

/**
 * One request whose reviewers are ann and bob. A seat is delegated, validly or not, and dan or eve, who have no seat of
 * their own, decide. Bob decides at the end in case nobody else has.
 */
export function planDelegation(planner: TurnPlanner, call: number): PlannedActs {
  const { random, soon, decision, send, delegate } = planner;
  const at = (afterMs: number) => ({ afterMs: afterMs + random.whole(0, 100) });
  const decides = (reviewerId: string, afterMs: number): PlannedSend =>
    send(at(afterMs), decision(call, { reviewerId }));
  const inTheEnd = decides('bob', 1_400);
  const ways = {
    handedOn: () => ({
      controls: [delegate(soon(), { call, by: 'ann', to: 'dan' })],
      sends: [decides('dan', random.whole(300, 900)), decides('ann', random.whole(300, 900)), inTheEnd],
    }),
    tooEarly: () => ({
      controls: [delegate(at(400), { call, by: 'ann', to: 'dan' })],
      sends: [decides('dan', 0), decides('dan', 900), inTheEnd],
    }),
    twice: () => {
      const message = delegate(soon(), { call, by: 'ann', to: 'dan' });
      return {
        controls: [message, { ...message, when: soon() }, { ...message, when: 'settled' as const }],
        sends: [decides('dan', 800), inTheEnd],
      };
    },
    conflicting: () => {
      const when = soon();
      const controls = ['dan', 'eve'].map((to) => delegate(when, { call, by: 'ann', to }));
      return { controls, sends: [decides('dan', 900), decides('eve', 900), inTheEnd] };
    },
    sameId: () => {
      const message = delegate(soon(), { call, by: 'ann', to: 'dan' });
      return { controls: [message, { ...message, to: 'eve' }], sends: [decides('eve', 800), inTheEnd] };
    },
    onward: () => ({
      controls: [delegate(at(0), { call, by: 'ann', to: 'dan' }), delegate(at(400), { call, by: 'dan', to: 'eve' })],
      sends: [decides('dan', 800), decides('eve', 800), inTheEnd],
    }),
    circle: () => ({
      controls: [delegate(at(0), { call, by: 'ann', to: 'bob' }), delegate(at(0), { call, by: 'bob', to: 'ann' })],
      sends: [decides('ann', 500), inTheEnd],
    }),
    byStranger: () => ({
      controls: [delegate(at(0), { call, by: 'eve', to: 'dan' })],
      sends: [decides('dan', 400), inTheEnd],
    }),
    bad: () => ({
      controls: [delegate(soon(), { call, by: 'ann', to: 'dan', fault: random.pick(['unknown', 'misshapen']) })],
      sends: [inTheEnd],
    }),
    late: () => ({
      controls: [delegate('settled', { call, by: 'ann', to: 'dan' })],
      sends: [decides('ann', 0), inTheEnd],
    }),
  };
  const weights = {
    handedOn: 3,
    tooEarly: 2,
    onward: 2,
    twice: 1,
    conflicting: 2,
    sameId: 1,
    circle: 1,
    byStranger: 1,
  };
  return ways[random.weighted<keyof typeof ways>({ ...weights, bad: 1, late: 1 })]();
}

/** A delegation in a run that names no reviewers: there is no seat to delegate. */
export function planVainDelegation({ delegate, soon, random }: TurnPlanner, asked: readonly number[]): PlannedActs {
  return { sends: [], controls: [delegate(soon(), { call: random.pick(asked), by: 'ann', to: 'dan' })] };
}
