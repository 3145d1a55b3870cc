import { planCrowd } from './plan-crowd.ts';
import type { PlannedItem, PlannedSend } from './schedule.ts';
import type { TurnPlanner } from './turn-planner.ts';

/** Plans the decisions on a turn's requests, valid and invalid ones. `asked` holds the indices of the calls. */
export function planAnswers(planner: TurnPlanner, asked: readonly number[]): PlannedSend[] {
  const { random, idPrefix, brief, granting, reviewers, nested, soon, decision, send, faulty, scope } = planner;
  const forGood = (call: number, more: Partial<PlannedItem> = {}): PlannedItem => {
    const item = decision(call, more);
    return { ...item, always: scope(item.approved) };
  };

  const ways = {
    once: (call: number) => [send(soon(), decision(call))],
    withoutId: (call: number) => {
      const { decisionId: _none, ...item } = decision(call);
      return [send(soon(), item)];
    },
    edited: (call: number) => [
      send(soon(), decision(call, { approved: true, edit: `edited ${idPrefix} ${call}` })),
      ...(random.chance(0.5) ? [send(soon(), decision(call))] : []),
    ],
    responded: (call: number) => [
      send(soon(), decision(call, { approved: false, response: `answer ${idPrefix} ${call}` })),
    ],
    twice: (call: number) => {
      const item = decision(call);
      const when = soon();
      return [send(when, item), send(random.chance(0.5) ? when : soon(), item), send('settled', item)];
    },
    opposite: (call: number) => {
      const when = soon();
      const approved = random.chance(0.5);
      return [
        send(when, decision(call, { approved, reviewerId: 'ann' })),
        send(when, decision(call, { approved: !approved, reviewerId: 'bob' })),
      ];
    },
    late: (call: number) => [
      send(soon(), decision(call, { approved: false })),
      send('settled', decision(call, { approved: true })),
    ],
    badFirst: (call: number) => [
      ...random
        .shuffled(['digest', 'unknown', 'misshapen', 'undecodable'] as const)
        .slice(0, random.whole(1, 3))
        .map((fault) => faulty(soon(), call, fault)),
      send({ afterMs: 700 }, decision(call)),
    ],
    onlyBad: (call: number) => [faulty(soon(), call, 'misshapen'), faulty(soon(), call, 'digest')],
    crowd: (call: number) => planCrowd(planner, [decision(call)]),
    atDeadline: (call: number) => [
      send({ beforeDeadlineMs: random.whole(-60, 60) }, decision(call)),
      send({ beforeDeadlineMs: random.whole(-300, 120) }, decision(call)),
    ],
    stranger: (call: number) => [
      send(soon(), decision(call, { reviewerId: 'eve' })),
      send({ afterMs: 700 }, decision(call)),
    ],
    forGood: (call: number) => [send(soon(), forGood(call, { approved: true }))],
    neverAgain: (call: number) => [send(soon(), forGood(call, { approved: false }))],
    forGoodTwice: (call: number) => {
      const item = forGood(call);
      return [send(soon(), item), send(soon(), item), send('settled', item)];
    },
    oppositeForGood: (call: number) => {
      const when = soon();
      return [
        send(when, forGood(call, { approved: true, reviewerId: 'ann' })),
        send(when, forGood(call, { approved: false, reviewerId: 'bob' })),
      ];
    },
    never: () => [],
  };
  const usual: Partial<Record<keyof typeof ways, number>> = brief
    ? { once: 3, crowd: 3, opposite: 1, atDeadline: 4, never: 2, onlyBad: 1, late: 1, edited: 1, responded: 1 }
    : { once: 4, crowd: 3, withoutId: 1, twice: 3, opposite: 3, late: 2, badFirst: 2, edited: 1, responded: 1 };
  const weights = {
    ...usual,
    ...(nested.length > 0 && { crowd: 12 }),
    ...(granting && { forGood: 4, neverAgain: 1, forGoodTwice: 1, oppositeForGood: 1 }),
    ...(reviewers.length > 0 && { stranger: 2 }),
  };
  if (asked.length > 1 && random.chance(0.3)) {
    // One batch for all requests, possibly with one malformed item, and sometimes a second batch with other decisions.
    const items = asked.map((call) => (granting && random.chance(0.3) ? forGood(call) : decision(call)));
    const spoilt = random.chance(0.5) ? [decision(asked[0]!, { fault: 'misshapen' })] : [];
    const answered = send(soon(), ...spoilt, ...items);
    return random.chance(0.5) ? [answered] : [answered, send(soon(), ...asked.map((call) => decision(call)))];
  }
  if (asked.length > 1 && random.chance(0.6)) {
    // All requests at the same time, or all but the first, whose tool may end just then.
    const first = random.chance(0.5) ? asked.slice(0, 1) : [];
    const rest = asked.slice(first.length).map((call) => decision(call));
    return [
      ...first.map((call) => send({ afterMs: 0 }, decision(call, { approved: true }))),
      ...planCrowd(planner, rest),
    ];
  }
  return asked.flatMap((call) => ways[random.weighted(weights)](call));
}
