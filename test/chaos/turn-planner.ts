import type { RequestedScope } from '../../src/contract.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { PlannedControl, PlannedDelegation, PlannedExtension, PlannedRevocation } from './planned-control.ts';
import type { Fault, PlannedItem, PlannedSend, PlannedVotes } from './schedule.ts';
import type { Via, PlannedWhen } from './planned-when.ts';
import { plainSender, senderCount } from './schedule.ts';

export interface TurnTraits {
  /** `RUN.TURN`, from 1: keeps the ids of this turn distinct from those of any other. */
  idPrefix: string;
  /** The prefix of the texts of this turn's calls, and the prefix for the whole run. */
  texts: { turn: string; run: string };
  /** The requests wait only seconds: some may be left unanswered, or answered right at the deadline. */
  brief: boolean;
  /** Some decisions request a grant. */
  granting: boolean;
  /** The people who may decide; empty means anyone. */
  reviewers: readonly string[];
  /** How they vote, if one approval is not enough. */
  votes: PlannedVotes | undefined;
  /** Only signed decisions count. */
  verified: boolean;
  /** Indices of the turn's calls that start a nested run. */
  nested: readonly number[];
}

/** The messages that are sent in one turn. */
export interface PlannedActs {
  sends: PlannedSend[];
  controls: PlannedControl[];
}

/** Makes the messages of one turn. Each gets its own id unless `more` says otherwise. */
export interface TurnPlanner extends TurnTraits {
  random: SeededRandom;
  /** Soon after the turn's requests were seen. */
  soon: () => PlannedWhen;
  decision: (call: number, more?: Partial<PlannedItem>) => PlannedItem;
  send: (when: PlannedWhen, ...items: PlannedItem[]) => PlannedSend;
  /** A decision with the given fault. */
  faulty: (when: PlannedWhen, call: number, fault: Fault) => PlannedSend;
  extend: (when: PlannedWhen, more: Partial<PlannedExtension> & { call: number; moreMs: number }) => PlannedExtension;
  delegate: (when: PlannedWhen, more: Partial<PlannedDelegation> & Seat) => PlannedDelegation;
  revoke: (when: PlannedWhen, grants: string[] | 'all', more?: Partial<PlannedRevocation>) => PlannedRevocation;
  /** The scope that a decision may request. Rarely without bounds, because the run would then stop asking. */
  scope: (approved: boolean) => true | RequestedScope;
}

interface Seat {
  call: number;
  by: string;
  to: string;
}

const ways: readonly Via[] = ['signal', 'signal', 'update', 'client'];
const rawWays: readonly Via[] = ['signal', 'update'];
const anybody: readonly string[] = ['ann', 'bob', 'eve'];

export function turnPlanner(random: SeededRandom, traits: TurnTraits): TurnPlanner {
  const { idPrefix, texts, reviewers } = traits;
  const people = reviewers.length === 0 ? anybody : reviewers;
  let ids = 0;
  const way = (waysOf = ways): { via: Via; sender: number } => {
    const via = random.pick(waysOf);
    return { via, sender: random.whole(0, senderCount - (via === 'client' ? 2 : 1)) };
  };
  const decision: TurnPlanner['decision'] = (call, more = {}) => ({
    call,
    approved: random.chance(0.6),
    reviewerId: random.pick(people),
    decisionId: `${idPrefix}-${++ids}`,
    ...more,
  });
  const fields = (when: PlannedWhen) => ({
    when,
    ...way(),
    by: random.pick(people),
    messageId: `${idPrefix}-message-${++ids}`,
  });
  return {
    ...traits,
    random,
    soon: () => ({ afterMs: random.whole(0, 700) }),
    decision,
    send: (when, ...items) => ({ when, ...way(), items }),
    faulty: (when, call, fault) => ({
      when,
      ...way(fault === 'undecodable' ? rawWays : ways),
      ...(fault === 'undecodable' && { sender: plainSender }),
      items: [decision(call, { fault, approved: true })],
    }),
    extend: (when, more) => ({ kind: 'extend', ...fields(when), ...more }),
    delegate: (when, more) => ({ kind: 'delegate', ...fields(when), ...more }),
    revoke: (when, grants, more = {}) => ({ kind: 'revoke', ...fields(when), grants, ...more }),
    scope: (approved) => {
      const scopes = {
        bare: true,
        call: { kind: 'call' },
        counted: { kind: 'tool', uses: random.whole(1, 2) },
        brief: { kind: 'tool', expiresIn: `${random.whole(1, 3)}s` },
        turn: { kind: 'arguments', match: { text: `${texts.turn}*` } },
        run: { kind: 'arguments', match: { text: `${texts.run}*` }, uses: 2, expiresIn: '1m' },
      } as const satisfies Record<string, true | RequestedScope>;
      const bare = approved ? 1 : 0;
      return scopes[random.weighted({ bare, call: 1, counted: 3, brief: 2, turn: 2, run: 2 })];
    },
  };
}
