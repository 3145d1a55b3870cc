import type { Via, PlannedWhen } from './planned-when.ts';
import type { Disturbance, WorkerCache } from './disturbance.ts';
import type { PlannedControl } from './planned-control.ts';
import type { RequestedScope } from '../../src/contract.ts';

/** The plan of a chaos test as plain JSON: the runs, who answers what and when, and what is killed. */
export interface ChaosSchedule {
  seed: number;
  /** How many runs are in flight at a time. */
  concurrency: number;
  runs: PlannedRun[];
  /** In order of `atShare`. */
  disturbances: Disturbance[];
  /** `maxCachedWorkflows` of each worker process, in order of start; null means the default. */
  caches: WorkerCache[];
}

/**
 * `note` writes a line; `slow` takes a while to do so; `again` may be repeated; `look` needs no approval; `helper` is
 * an agent: a call of it starts a nested run.
 */
export type ChaosTool = 'note' | 'slow' | 'again' | 'look' | 'helper';

export interface PlannedRun {
  name: string;
  /** How long each request waits, in milliseconds. */
  timeoutMs: number;
  /** The people who may decide and delegate. If empty, anybody decides. */
  reviewers: string[];
  /** Present only if one approval is not enough. */
  votes?: PlannedVotes;
  /** Only signed decisions count. */
  verified?: true;
  turns: PlannedTurn[];
  end: PlannedEnd;
}

/** How many reviewers must approve, which of them must be among these, and whether one denial settles the request. */
export interface PlannedVotes {
  quorum: number;
  oneOfEach: string[];
  veto: boolean;
}

/**
 * `itself`: the model ends the run. Otherwise somebody ends it, `afterMs` after the requests of the turn with index
 * `turn` were seen.
 */
export type PlannedEnd = { kind: 'itself' } | { kind: 'cancel' | 'terminate'; turn: number; afterMs: number };

export interface PlannedTurn {
  calls: PlannedCall[];
  sends: PlannedSend[];
  controls: PlannedControl[];
  changes: PlannedChange[];
  /**
   * How many signals to send under a name that no run knows. They make the history grow until the run continues as new.
   */
  strays: number;
}

export interface PlannedCall {
  /** The id that the model gives the call; reused within a batch and in later turns. */
  modelCallId: string;
  tool: ChaosTool;
  /** The text that the tool writes; unique within the schedule. */
  text: string;
  /** Only for `helper`: the run that the call starts. */
  nested?: PlannedRun;
}

/** How many senders there are. */
export const senderCount = 4;
/** Index of the sender with a plain Temporal client: the last. */
export const plainSender = senderCount - 1;

/** One item is sent as it is, several as an array. */
export interface PlannedSend {
  when: PlannedWhen;
  via: Via;
  /** Index of the sender. Each sender has its own connection. */
  sender: number;
  items: PlannedItem[];
}

/**
 * `digest`: the digest of something else. `unknown`: a request that does not exist. `misshapen`: not a decision.
 * `undecodable`: bytes that no converter reads. `forged`: signed with another person's key. `elsewhere`: signed for
 * another run. `altered`: changed after signing. `unsigned`: no signature although only signed decisions count.
 */
export type Fault = 'digest' | 'unknown' | 'misshapen' | 'undecodable' | SignatureFault;
export type SignatureFault = 'forged' | 'elsewhere' | 'altered' | 'unsigned';

export interface PlannedItem {
  /** Index in the turn's calls. */
  call: number;
  approved: boolean;
  reviewerId: string;
  /** The same for repetitions of one decision; absent if the sender gives none. */
  decisionId?: string;
  fault?: Fault;
  /** With `approved`: the text to write instead of the requested one. */
  edit?: string;
  /** Without `approved`: what the model gets instead of the tool's result. */
  response?: string;
  /** The grant or standing denial requested with the decision. */
  always?: true | RequestedScope;
}

/** The run's policy is replaced by one with a single rule, which is about `tool`. */
export interface PlannedChange {
  afterMs: number;
  via: 'signal' | 'update';
  sender: number;
  tool: ChaosTool;
  action: 'allow' | 'deny' | 'ask';
  messageId: string;
}
