import type { Via, PlannedWhen } from './planned-when.ts';

/** What else is sent: more time for a request, a seat handed on, grants taken away. */
export type PlannedControl = PlannedExtension | PlannedDelegation | PlannedRevocation;

interface ControlFields {
  when: PlannedWhen;
  via: Via;
  sender: number;
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
