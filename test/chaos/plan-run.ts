import type { SeededRandom } from '../support/seeded-random.ts';
import { planAnswers } from './plan-answers.ts';
import type { ChaosTool, PlannedCall, PlannedChange, PlannedEnd, PlannedRun, PlannedTurn } from './schedule.ts';

const toolWeights = { note: 5, slow: 2, again: 2 } as const satisfies Partial<Record<ChaosTool, number>>;

export function planRun(random: SeededRandom, index: number): PlannedRun {
  const name = `run-${String(index).padStart(3, '0')}`;
  // Brief requests meet their deadlines, some with nobody answering; the others have time for any disturbance.
  const brief = random.chance(0.35);
  const timeoutMs = brief ? random.pick([1_500, 3_000, 5_000]) : 90_000;
  const turns: PlannedTurn[] = [];
  for (let asked = random.whole(6, 7); asked > 0;) {
    const inTurn = Math.min(asked, random.whole(1, 4));
    turns.push(planTurn(random, { name, turn: turns.length, inTurn, brief }));
    asked -= inTurn;
  }
  return { name, timeoutMs, turns, end: planEnd(random, turns.length) };
}

interface TurnPlace {
  name: string;
  turn: number;
  inTurn: number;
  brief: boolean;
}

function planTurn(random: SeededRandom, { name, turn, inTurn, brief }: TurnPlace): PlannedTurn {
  const tools: ChaosTool[] = Array.from({ length: inTurn }, () => random.weighted(toolWeights));
  if (random.chance(0.3)) tools.splice(random.whole(0, tools.length), 0, 'look');
  const calls = tools.map((tool, call): PlannedCall => ({
    modelCallId: random.pick(['call_1', 'call_2']),
    tool,
    text: `${name} ${turn + 1}.${call + 1}`,
  }));
  const asked = calls.flatMap(({ tool }, call) => (tool === 'look' ? [] : [call]));
  return {
    calls,
    changes: planChanges(random, `${name}.${turn + 1}`),
    sends: planAnswers(random, { idPrefix: `${name}.${turn + 1}`, asked, brief }),
    strays: random.pick([0, 0, 0, 0, 0, 3, 3, 12, 12, 25]),
  };
}

/** Few runs have their policy changed, some of them twice at once. */
function planChanges(random: SeededRandom, idPrefix: string): PlannedChange[] {
  const count = random.weighted({ none: 12, one: 2, two: 1 });
  return Array.from({ length: ['none', 'one', 'two'].indexOf(count) }, (_, index) => ({
    afterMs: random.whole(0, 600),
    door: random.pick(['signal', 'update']),
    tool: random.weighted(toolWeights),
    action: random.pick(['allow', 'deny', 'ask']),
    messageId: `${idPrefix}-change-${index + 1}`,
  }));
}

function planEnd(random: SeededRandom, turns: number): PlannedEnd {
  const kind = random.weighted({ itself: 10, cancel: 1, terminate: 1 });
  if (kind === 'itself') return { kind };
  return { kind, turn: random.whole(0, turns - 1), afterMs: random.whole(0, 800) };
}
