import type { PlannedWhen } from './planned-when.ts';
import type { PlannedActs, TurnPlanner } from './turn-planner.ts';

/** Further than the ceiling lets any request wait. */
const beyondMs = 600_000;

/** One request is extended, validly or not, and answered; a brief one may be left until its new deadline. */
export function planExtension(planner: TurnPlanner, call: number): PlannedActs {
  const { random, brief, soon, decision, send, extend } = planner;
  const someMore = (): number => (brief ? random.whole(1_000, 2_000) : random.whole(5_000, 20_000));
  const answer = send({ afterMs: random.whole(300, 900) }, decision(call));
  const ways = {
    once: () => ({ sends: [answer], controls: [extend(soon(), { call, moreMs: someMore() })] }),
    withoutId: () => {
      const { messageId: _none, ...message } = extend(soon(), { call, moreMs: someMore() });
      return { sends: [answer], controls: [message] };
    },
    twice: () => {
      const message = extend(soon(), { call, moreMs: someMore() });
      return { sends: [answer], controls: [message, { ...message, when: soon() }, { ...message, when: settled }] };
    },
    conflicting: () => {
      const when = soon();
      const controls = [0, 1].map(() => extend(when, { call, moreMs: someMore() }));
      return { sends: [answer], controls };
    },
    sameId: () => {
      const message = extend(soon(), { call, moreMs: someMore() });
      return { sends: [answer], controls: [message, { ...message, moreMs: message.moreMs + 500 }] };
    },
    beyond: () => ({ sends: [answer], controls: [extend(soon(), { call, moreMs: beyondMs })] }),
    bad: () => ({
      sends: [answer],
      controls: [extend(soon(), { call, moreMs: someMore(), fault: random.pick(['unknown', 'misshapen']) })],
    }),
    late: () => ({ sends: [answer], controls: [extend(settled, { call, moreMs: someMore() })] }),
    // The following apply only to brief requests.
    answeredLater: () => {
      const moreMs = someMore();
      return {
        sends: [send({ beforeDeadlineMs: -random.whole(150, moreMs - 300) }, decision(call))],
        controls: [extend(soon(), { call, moreMs })],
      };
    },
    leftAlone: () => ({ sends: [], controls: [extend(soon(), { call, moreMs: someMore() })] }),
    atDeadline: () => ({
      sends: [send({ beforeDeadlineMs: -random.whole(150, 700) }, decision(call))],
      controls: [extend({ beforeDeadlineMs: random.whole(-60, 60) }, { call, moreMs: someMore() })],
    }),
  };
  const weights = brief
    ? { answeredLater: 4, atDeadline: 3, leftAlone: 1, twice: 1, conflicting: 1, beyond: 1 }
    : { once: 2, withoutId: 1, twice: 2, conflicting: 2, sameId: 2, beyond: 2, bad: 2, late: 2 };
  return ways[random.weighted<keyof typeof ways>(weights)]();
}

const settled: PlannedWhen = 'settled';
