import type { Fault, PlannedItem, PlannedSend } from './schedule.ts';
import type { PlannedWhen } from './planned-when.ts';
import type { TurnPlanner } from './turn-planner.ts';

const faults: readonly Fault[] = ['digest', 'unknown', 'misshapen', 'undecodable', 'forged'];
const unverified: readonly Fault[] = ['elsewhere', 'altered', 'unsigned'];
/** How long before that a refused signal comes, whose workflow task is over by then, if the machine is not busy. */
const beforeMs = 150;

/**
 * Good decisions, and refused ones beside them, by several senders, by signal and by update: where the
 * turn has a nested run just when that ends, and where the requests are brief sometimes at their deadline. Often
 * a refused signal comes before them, whose workflow task has no command, and some come again when the request is settled.
 */
export function planCrowd(planner: TurnPlanner, good: readonly PlannedItem[]): PlannedSend[] {
  const { random, nested, reviewers, verified, decision, faulty, send } = planner;
  const when = planMoment(planner);
  const atOnce = (sent: PlannedSend): PlannedSend => ({ ...sent, via: random.pick(['signal', 'update']) });
  const calls = [...new Set(good.map(({ call }) => call))];
  const bad = calls.flatMap((call) => [
    ...random
      .shuffled([...faults, ...(verified ? unverified : [])])
      .slice(0, random.whole(1, nested.length > 0 ? 4 : 3))
      .map((fault) => faulty(when(), call, fault)),
    ...(reviewers.length > 0 && random.chance(0.5) ? [send(when(), decision(call, { reviewerId: 'eve' }))] : []),
  ]);
  const late = calls.flatMap((call) =>
    random.chance(0.3) ? [send('settled', decision(call)), faulty('settled', call, 'digest')] : [],
  );
  const first = { ...faulty(when(-beforeMs), calls[0]!, 'digest'), via: 'signal' as const };
  return [
    ...(random.chance(0.5) ? [first] : []),
    ...random.shuffled([...bad, ...good.map((item) => send(when(), item))].map(atOnce)),
    ...late,
  ];
}

/** All within the same moment, or one after another, each in a workflow task of its own: at once, or after a while. */
function planMoment({ random, brief, nested }: TurnPlanner): (shiftMs?: number) => PlannedWhen {
  const spreadMs = random.pick(brief ? [40, 400] : [40, 400, 3_000]);
  const later = (): number => random.whole(0, spreadMs);
  const isSoon = brief || random.chance(0.5);
  const at = beforeMs + (isSoon ? random.whole(0, brief ? 300 : 700) : random.whole(1_500, 5_000));
  const [nestedCall] = random.shuffled(nested);
  if (nestedCall !== undefined) return (shiftMs = 0) => ({ nested: nestedCall, afterNestedMs: at + later() + shiftMs });
  if (brief && random.chance(0.4)) return (shiftMs = 0) => ({ beforeDeadlineMs: spreadMs / 2 - later() - shiftMs });
  return (shiftMs = 0) => ({ afterMs: at + later() + shiftMs });
}
