import type { Fault, PlannedItem, PlannedSend } from './schedule.ts';
import type { PlannedWhen } from './planned-when.ts';
import type { TurnPlanner } from './turn-planner.ts';

const faults: readonly Fault[] = ['digest', 'unknown', 'misshapen', 'undecodable', 'forged'];
const unverified: readonly Fault[] = ['elsewhere', 'altered', 'unsigned'];
/** How long before the crowd a refused signal arrives. Its workflow task is over by then unless the machine is busy. */
const beforeMs = 150;

/**
 * Valid decisions mixed with refused ones, from several senders, by signal and by update. If the turn has a nested run,
 * they arrive as that run ends; if the requests are brief, sometimes at their deadline. Often a refused signal precedes
 * them, whose workflow task has no command, and some repeat after the request is settled.
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

/**
 * Returns times that are close together, or spread so that each message gets its own workflow task; the first comes at
 * once or after a while.
 */
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
