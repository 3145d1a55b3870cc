import type { Assessment } from '../assess/assessment.ts';
import type { Identity } from '../people/entitlement.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Json, JsonObject, Risk } from '../base/tool-call.ts';

/** How one call's question was settled, exactly once (I3, I15). */
export type OutcomeName =
  | 'allowed'
  | 'denied_by_policy'
  | 'approved'
  | 'denied'
  | 'responded'
  | 'expired'
  | 'cancelled'
  | 'superseded'
  | 'refused';

/** `pending`: settled, and the tool has not finished. `unknown`: started, and nobody knows how it ended (I7). */
export type Ran = 'yes' | 'no' | 'unknown' | 'pending';

export interface CallOutcome {
  callId: string;
  toolName: string;
  requestId?: string;
  outcome: OutcomeName;
  ran: Ran;
}

/** An open question about one call. `requestId` is 32 hex characters, ours, single-use. */
export interface ApprovalRequest {
  requestId: string;
  workflowId: string;
  toolName: string;
  arguments: JsonObject;
  riskLevel: Risk;
  assessment: Assessment;
  agentName: string;
  callerUserId: string | null;
  /** The model's text beside the call, else the last user message; at most 500 characters. */
  contextSummary: string;
  /** Id of the rule that asked; null where a risk default did. */
  rule: string | null;
  reason: string;
  requestedAt: string;
  deadline: string | null;
  /** 64 hex: what exactly would run (contract section 2). */
  digest: string;
  lineage: string[];
  /** The request in whose place this one stands, and why: its arguments were edited, or its tool changed after it was approved. */
  replaces?: { requestId: string; by: 'edit' | 'definition' };
  metadata: JsonObject;
  reviewers: string[];
  /** `part`: arguments are left out of this view; query `approvals` with the id for all of it. */
  shown: 'all' | 'part';
  /** Where large arguments are left out of a list: their names, and the bytes of their JSON. */
  argumentNames?: string[];
  argumentBytes?: number;
}

export interface Settlement {
  outcome: OutcomeName;
  /** Whether the tool runs: approved, superseded by what allows it, or expired where that allows it. */
  runs: boolean;
  reason?: string;
  /** Whose word settled it. */
  reviewerId?: string;
  identity?: Identity;
  decisionId?: string;
  settledAt: string;
  /** For `superseded`: by what. With `edit` the call's question stays open in request `byId`. */
  by?: 'policy' | 'grant' | 'edit';
  /** The rule, the grant or the request that took its place. */
  byId?: string | null;
  /** For `responded`: what the model gets. */
  response?: Json;
  /** What runs in the place of the call that was asked about (I9). */
  edited?: { arguments: JsonObject; digest: string };
}

/** What the sender of a decision learns. */
export interface Receipt {
  requestId: string;
  accepted: boolean;
  outcome?: OutcomeName;
  /** While a quorum is not complete. */
  votes?: { have: number; need: number };
  /** What "always" left behind. */
  grantId?: string;
  /** Other requests that this settled (I14). */
  settled?: { requestId: string; outcome: OutcomeName }[];
  /** The request in which the call's question goes on, after an edit. */
  successor?: string;
  /** Written down by a signal, not yet applied: no worker answered in time. Only clients say so. */
  recorded?: true;
  /** Who settled it, when it was already settled. */
  settledBy?: string;
  code?: ProblemCode;
  message: string;
}

export interface RefusedDecision {
  code: ProblemCode;
  requestId?: string;
  size: number;
}
