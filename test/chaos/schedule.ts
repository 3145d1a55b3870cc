import type { Via, PlannedWhen } from './planned-when.ts';
import type { Disturbance, WorkerCache } from './disturbance.ts';
import type { PlannedControl } from './planned-control.ts';
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
  /** `maxCachedWorkflows` of each worker process, in the order in which they start; null is the default. */
  caches: WorkerCache[];
}

/**
 * `note` writes a line; `slow` takes a while over it; `again` may be repeated; `look` needs no approval; `helper` is an
 * agent, and a call of it starts a nested run.
 */
export type ChaosTool = 'note' | 'slow' | 'again' | 'look' | 'helper';

export interface PlannedRun {
  name: string;
  /** How long each request waits, in milliseconds. */
  timeoutMs: number;
  /** Who may decide, and hand on their seat; nobody here: anyone decides. */
  reviewers: string[];
  /** Only where one approval is not enough. */
  votes?: PlannedVotes;
  /** Only signed decisions count. */
  verified?: true;
  turns: PlannedTurn[];
  end: PlannedEnd;
}

/** How many of the reviewers must approve, who of them in any case, and whether one denial settles. */
export interface PlannedVotes {
  quorum: number;
  oneOfEach: string[];
  veto: boolean;
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
  /** Of `helper`: the run that the call starts. */
  nested?: PlannedRun;
}

/** How many send at a time. */
export const senderCount = 4;
/** Index of the one with a plain Temporal client: the last. */
export const plainSender = senderCount - 1;

/** One item is sent as it is, several as an array. */
export interface PlannedSend {
  when: PlannedWhen;
  via: Via;
  /** Index of the sender, each of whom has a connection of their own. */
  sender: number;
  items: PlannedItem[];
}

/**
 * `digest`: of something else. `unknown`: for a request that does not exist. `misshapen`: not a decision.
 * `undecodable`: bytes that no converter reads. `forged`: signed with a key of somebody else's. `elsewhere`: signed for
 * another run. `altered`: changed after it was signed. `unsigned`: in a run where only signed decisions count.
 */
export type Fault = 'digest' | 'unknown' | 'misshapen' | 'undecodable' | SignatureFault;
export type SignatureFault = 'forged' | 'elsewhere' | 'altered' | 'unsigned';

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

/** The run's policy is replaced by one that says this of one tool, and nothing of the others. */
export interface PlannedChange {
  afterMs: number;
  via: 'signal' | 'update';
  sender: number;
  tool: ChaosTool;
  action: 'allow' | 'deny' | 'ask';
  messageId: string;
}
