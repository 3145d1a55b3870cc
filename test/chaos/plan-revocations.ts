import type { PlannedControl } from './planned-control.ts';
import type { TurnPlanner } from './turn-planner.ts';

/** Revokes grants, including ones that do not exist or are used up. */
export function planRevocations({ random, granting, revoke }: TurnPlanner): PlannedControl[] {
  if (!random.chance(granting ? 0.5 : 0.05)) return [];
  const when = () => ({ afterMs: random.whole(0, 1_200) });
  const one = (): string[] => [random.pick(['grant-1', 'grant-1', 'grant-2', 'grant-3'])];
  const ways = {
    one: () => [revoke(when(), one())],
    all: () => [revoke(when(), 'all')],
    twice: () => {
      const message = revoke(when(), one());
      return [message, { ...message, when: when() }];
    },
    conflicting: () => {
      const at = when();
      return [revoke(at, one()), revoke(at, 'all')];
    },
    sameId: () => {
      const message = revoke(when(), one());
      return [message, { ...message, grants: 'all' as const }];
    },
    unknown: () => [revoke(when(), ['grant-99'])],
    misshapen: () => [revoke(when(), 'all', { fault: 'misshapen' })],
  };
  const weights = { one: 4, all: 2, twice: 2, conflicting: 1, sameId: 1, unknown: 1, misshapen: 1 };
  return ways[random.weighted<keyof typeof ways>(weights)]();
}
