import type { SeededRandom } from '../support/seeded-random.ts';
import { planTurn } from './plan-turn.ts';
import type { TurnPlace } from './plan-turn.ts';
import type { PlannedEnd, PlannedRun, PlannedTurn, PlannedVotes } from './schedule.ts';

export function planRun(random: SeededRandom, index: number): PlannedRun {
  const name = `run-${String(index).padStart(3, '0')}`;
  // Brief requests reach their deadlines, some without any answer; the others wait long enough for any disturbance.
  const brief = random.chance(0.35);
  const timeoutMs = brief ? random.pick([1_500, 3_000, 5_000]) : 90_000;
  const panel = planPanel(random);
  const granting = panel.votes === undefined && random.chance(0.4);
  const { reviewers, votes } = panel;
  const verified = panel.verified === true;
  const place = { brief, granting, reviewers, votes, verified };
  /** A nested run has the timeout and the reviewers of the run that calls it. */
  const nestedRun = (nestedName: string): PlannedRun => {
    const nestedTurns = planTurns(random, random.whole(1, 3), { ...place, name: nestedName });
    return { name: nestedName, timeoutMs, ...panel, turns: nestedTurns, end: planEnd(random, nestedTurns.length) };
  };
  const turns = planTurns(random, random.whole(6, 7), { ...place, name, nestedRun });
  return { name, timeoutMs, ...panel, turns, end: planEnd(random, turns.length) };
}

/** Plans turns with `asks` requests in total. */
function planTurns(random: SeededRandom, asks: number, place: Omit<TurnPlace, 'turn' | 'inTurn'>): PlannedTurn[] {
  const turns: PlannedTurn[] = [];
  for (let asked = asks; asked > 0;) {
    const inTurn = Math.min(asked, random.whole(1, 5));
    turns.push(planTurn(random, { ...place, turn: turns.length, inTurn }));
    asked -= inTurn;
  }
  return turns;
}

/**
 * Chooses who decides: anybody, two people, or several who vote; with named reviewers, sometimes signed decisions only.
 */
function planPanel(random: SeededRandom): Pick<PlannedRun, 'reviewers' | 'votes' | 'verified'> {
  const verified = random.chance(0.35) ? { verified: true as const } : {};
  const kinds = {
    anybody: () => ({ reviewers: [] }),
    two: () => ({ reviewers: ['ann', 'bob'], ...verified }),
    several: () => ({ ...planVoters(random), ...verified }),
  };
  return kinds[random.weighted({ anybody: 5, two: 3, several: 2 })]();
}

function planVoters(random: SeededRandom): { reviewers: string[]; votes: PlannedVotes } {
  const veto = random.chance(0.5);
  return random.chance(0.6)
    ? { reviewers: ['ann', 'bob', 'dan'], votes: { quorum: random.whole(2, 3), oneOfEach: [], veto } }
    : { reviewers: ['ann', 'bob', 'dan'], votes: { quorum: 1, oneOfEach: ['ann', 'bob'], veto } };
}

function planEnd(random: SeededRandom, turns: number): PlannedEnd {
  const kind = random.weighted({ itself: 10, cancel: 1, terminate: 1 });
  if (kind === 'itself') return { kind };
  return { kind, turn: random.whole(0, turns - 1), afterMs: random.whole(0, 800) };
}
