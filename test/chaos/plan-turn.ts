import type { SeededRandom } from '../support/seeded-random.ts';
import { planAnswers } from './plan-answers.ts';
import { planDelegation, planVainDelegation } from './plan-delegations.ts';
import { planExtension } from './plan-extensions.ts';
import { planRevocations } from './plan-revocations.ts';
import { planVotes } from './plan-votes.ts';
import type { ChaosTool, PlannedCall, PlannedChange, PlannedRun, PlannedTurn } from './schedule.ts';
import { senderCount } from './schedule.ts';
import type { PlannedActs, TurnPlanner, TurnTraits } from './turn-planner.ts';
import { turnPlanner } from './turn-planner.ts';

const toolWeights = { note: 5, slow: 2, again: 2 } as const satisfies Partial<Record<ChaosTool, number>>;

export interface TurnPlace extends Omit<TurnTraits, 'idPrefix' | 'texts' | 'nested'> {
  /** The run's name. */
  name: string;
  turn: number;
  /** How many requests the turn opens. */
  inTurn: number;
  /** Plans the run that a call of `helper` starts. Without it, the turn has no such calls. */
  nestedRun?: (name: string) => PlannedRun;
}

export function planTurn(random: SeededRandom, place: TurnPlace): PlannedTurn {
  const { name, turn, inTurn, nestedRun, ...traits } = place;
  const tools: ChaosTool[] = Array.from({ length: inTurn }, () => random.weighted(toolWeights));
  if (random.chance(0.4)) tools.splice(random.whole(0, tools.length), 0, 'look');
  if (nestedRun !== undefined && random.chance(0.2)) {
    // Occasionally two nested runs at once.
    for (let count = random.pick([1, 1, 2]); count > 0; count--)
      tools.splice(random.whole(0, tools.length), 0, 'helper');
  }
  const texts = { run: `${name} `, turn: `${name} ${turn + 1}.` };
  const calls = tools.map((tool, call): PlannedCall => ({
    modelCallId: random.pick(['call_1', 'call_2']),
    tool,
    text: `${texts.turn}${call + 1}`,
    ...(tool === 'helper' && { nested: nestedRun!(`${name}/${turn + 1}.${call + 1}`) }),
  }));
  const asked = calls.flatMap(({ tool }, call) => (tool === 'look' || tool === 'helper' ? [] : [call]));
  const nested = calls.flatMap((each, call) => (each.nested === undefined ? [] : [call]));
  const idPrefix = `${name}.${turn + 1}`;
  const planner = turnPlanner(random, { ...traits, idPrefix, texts, nested });
  return {
    calls,
    // A nested run's own policy would ask anybody, in addition to the reviewers of the calling run.
    changes: nestedRun === undefined && place.reviewers.length > 0 ? [] : planChanges(random, idPrefix),
    ...planActs(planner, asked),
    strays: random.pick([0, 0, 0, 0, 0, 3, 3, 12, 12, 25]),
  };
}

function planActs(planner: TurnPlanner, asked: readonly number[]): PlannedActs {
  const { random, reviewers, votes } = planner;
  const isNamed = reviewers.length > 0;
  if (votes !== undefined) return { sends: planVotes(planner, asked), controls: [] };
  const ways = asked.map(() => random.weighted({ answers: 6, extension: 1, delegation: isNamed ? 4 : 0 }));
  const of = (way: (typeof ways)[number]): number[] => asked.filter((_, index) => ways[index] === way);
  const acts = [
    ...of('extension').map((call) => planExtension(planner, call)),
    ...of('delegation').map((call) => planDelegation(planner, call)),
    ...(!isNamed && random.chance(0.04) ? [planVainDelegation(planner, asked)] : []),
  ];
  return {
    sends: [...planAnswers(planner, of('answers')), ...acts.flatMap(({ sends }) => sends)],
    controls: [...acts.flatMap(({ controls }) => controls), ...planRevocations(planner)],
  };
}

/** The policy of a few runs changes, sometimes twice at once. */
function planChanges(random: SeededRandom, idPrefix: string): PlannedChange[] {
  const count = random.weighted({ none: 12, one: 2, two: 1 });
  return Array.from({ length: ['none', 'one', 'two'].indexOf(count) }, (_, index) => ({
    afterMs: random.whole(0, 600),
    via: random.pick(['signal', 'update']),
    sender: random.whole(0, senderCount - 1),
    tool: random.weighted(toolWeights),
    action: random.pick(['allow', 'deny', 'ask']),
    messageId: `${idPrefix}-change-${index + 1}`,
  }));
}
