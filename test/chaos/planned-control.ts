import type { Via, PlannedWhen } from './planned-when.ts';

/** Messages that are no decisions: extensions, delegations and revocations. */
export type PlannedControl = PlannedExtension | PlannedDelegation | PlannedRevocation;

interface ControlFields {
  when: PlannedWhen;
  via: Via;
  sender: number;
  by: string;
  /** The same for repetitions of one message; absent if the sender gives none. */
  messageId?: string;
  /**
   * As for a decision. `unknown` names a request that does not exist; a revocation simply lists grants that do not
   * exist.
   */
  fault?: 'unknown' | 'misshapen';
}

export interface PlannedExtension extends ControlFields {
  kind: 'extend';
  /** Index in the turn's calls. */
  call: number;
  /** How far the new deadline is past the original one, in milliseconds. */
  moreMs: number;
}

export interface PlannedDelegation extends ControlFields {
  kind: 'delegate';
  call: number;
  to: string;
}

export interface PlannedRevocation extends ControlFields {
  kind: 'revoke';
  /** A run numbers its grants: `grant-1` is the first one that it makes. */
  grants: string[] | 'all';
}
