import type { SeededRandom } from '../support/seeded-random.ts';
import { planTurn } from './plan-turn.ts';
import type { PlannedEnd, PlannedRun, PlannedTurn } from './schedule.ts';

export function planRun(random: SeededRandom, index: number): PlannedRun {
  const name = `run-${String(index).padStart(3, '0')}`;
  // Brief requests meet their deadlines, some with nobody answering; the others have time for any disturbance.
  const brief = random.chance(0.35);
  const timeoutMs = brief ? random.pick([1_500, 3_000, 5_000]) : 90_000;
  const reviewers = random.chance(0.3) ? ['ann', 'bob'] : [];
  const granting = random.chance(0.4);
  const turns: PlannedTurn[] = [];
  for (let asked = random.whole(6, 7); asked > 0;) {
    const inTurn = Math.min(asked, random.whole(1, 4));
    turns.push(planTurn(random, { name, turn: turns.length, inTurn, brief, granting, reviewers }));
    asked -= inTurn;
  }
  return { name, timeoutMs, reviewers, turns, end: planEnd(random, turns.length) };
}

function planEnd(random: SeededRandom, turns: number): PlannedEnd {
  const kind = random.weighted({ itself: 10, cancel: 1, terminate: 1 });
  if (kind === 'itself') return { kind };
  return { kind, turn: random.whole(0, turns - 1), afterMs: random.whole(0, 800) };
}
