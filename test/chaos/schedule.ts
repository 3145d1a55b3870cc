import type { GrantScope } from '../../src/contract.ts';

/**
 * What a chaos test is going to do, as plain JSON: which runs there are, who answers what and when, and what is killed.
 */
export interface ChaosSchedule {
  seed: number;
  /** Runs that are under way at a time. */
  concurrency: number;
  runs: PlannedRun[];
  /** In order of `atShare`. */
  disturbances: Disturbance[];
}

/** `note` writes a line; `slow` takes a while over it; `again` may be repeated; `look` needs no approval. */
export type ChaosTool = 'note' | 'slow' | 'again' | 'look';

export interface PlannedRun {
  name: string;
  /** How long each request waits, in milliseconds. */
  timeoutMs: number;
  /** Who may decide, and hand on their seat; nobody here: anyone decides. */
  reviewers: string[];
  turns: PlannedTurn[];
  end: PlannedEnd;
}

/** `itself`: the model comes to an end. Else somebody ends it, so long after the turn of this index was seen to ask. */
export type PlannedEnd = { kind: 'itself' } | { kind: 'cancel' | 'terminate'; turn: number; afterMs: number };

export interface PlannedTurn {
  calls: PlannedCall[];
  sends: PlannedSend[];
  controls: PlannedControl[];
  changes: PlannedChange[];
  /** Signals under a name that no run knows, which make its history grow until it continues as new. */
  strays: number;
}

export interface PlannedCall {
  /** The model's own id: reused in one batch and in later turns. */
  modelCallId: string;
  tool: ChaosTool;
  /** What the tool writes down; no other call of the schedule has the same. */
  text: string;
}

/**
 * When something is sent: so long after the turn was seen to ask, before (or, below zero, after) the deadline of the
 * first item's request, or once none of its requests is open any more.
 */
export type PlannedWhen = { afterMs: number } | { beforeDeadlineMs: number } | 'settled';

/** `client` is the update that falls back to a signal. */
export type Door = 'signal' | 'update' | 'client';

/** One item is sent as it is, several as an array. */
export interface PlannedSend {
  when: PlannedWhen;
  door: Door;
  items: PlannedItem[];
}

/**
 * `digest`: of something else. `unknown`: for a request that does not exist. `misshapen`: not a decision.
 * `undecodable`: bytes that no converter reads, by signal only.
 */
export type Fault = 'digest' | 'unknown' | 'misshapen' | 'undecodable';

export interface PlannedItem {
  /** Index in the turn's calls. */
  call: number;
  approved: boolean;
  reviewerId: string;
  /** The same for repetitions of one decision; absent: the sender has none. */
  decisionId?: string;
  fault?: Fault;
  /** With `approved`: the text that is to be written instead of the one that was asked about. */
  edit?: string;
  /** Without `approved`: what the model gets in the tool's place. */
  response?: string;
  /** The grant or standing denial that is wished for besides. */
  always?: true | GrantScope;
}

/** What else is sent: more time for a request, a seat handed on, grants taken away. */
export type PlannedControl = PlannedExtension | PlannedDelegation | PlannedRevocation;

interface ControlFields {
  when: PlannedWhen;
  door: Door;
  by: string;
  /** The same for repetitions of one message; absent: the sender has none. */
  messageId?: string;
  /** As of a decision. `unknown` goes with a request; grants that do not exist are simply named. */
  fault?: 'unknown' | 'misshapen';
}

export interface PlannedExtension extends ControlFields {
  kind: 'extend';
  /** Index in the turn's calls. */
  call: number;
  /** How long after the deadline with which the request was opened, in milliseconds. */
  moreMs: number;
}

export interface PlannedDelegation extends ControlFields {
  kind: 'delegate';
  call: number;
  to: string;
}

export interface PlannedRevocation extends ControlFields {
  kind: 'revoke';
  /** A run numbers its grants: `grant-1` is the first that it makes. */
  grants: string[] | 'all';
}

/** The run's policy is replaced by one that says this of one tool, and nothing of the others. */
export interface PlannedChange {
  afterMs: number;
  door: 'signal' | 'update';
  tool: ChaosTool;
  action: 'allow' | 'deny' | 'ask';
  messageId: string;
}

export type DisturbanceKind = 'kill_worker' | 'stop_worker' | 'kill_all_workers' | 'kill_server' | 'kill_everything';

export interface Disturbance {
  kind: DisturbanceKind;
  /** Comes when this share of all that is planned to be sent has been sent, 0 to 1. */
  atShare: number;
  /** Which of the workers, where it is one. */
  worker: number;
  /** How long what was ended stays away, in milliseconds. */
  downMs: number;
}

/** How many requests the runs would open if each came to its own end. */
export function askedCalls({ runs }: Pick<ChaosSchedule, 'runs'>): number {
  return runs.flatMap(({ turns }) => turns.flatMap(({ calls }) => calls)).filter(({ tool }) => tool !== 'look').length;
}

/** Decisions (a batch is one) and controls, which are sent alike. */
export function plannedSends({ runs }: Pick<ChaosSchedule, 'runs'>): number {
  return runs.flatMap(({ turns }) => turns).reduce((sum, turn) => sum + sendsOfTurn(turn), 0);
}

export function sendsOfTurn({ sends, controls }: PlannedTurn): number {
  return sends.length + controls.length;
}
