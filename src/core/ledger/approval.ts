import type { Assessment } from '../assess/assessment.ts';
import type { RequestedScope } from '../messages/decision.ts';
import type { Viewed } from '../messages/viewed.ts';
import type { Identity } from '../people/entitlement.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Advice } from '../policy/advice.ts';
import type { Json, JsonObject, Risk } from '../base/tool-call.ts';

/** How one call was settled. Each call is settled exactly once. */
export type OutcomeName =
  | 'allowed'
  | 'denied_by_policy'
  | 'approved'
  | 'denied'
  | 'responded'
  | 'expired'
  | 'cancelled'
  | 'superseded'
  | 'refused'
  | 'cached';

/** Whether the tool ran. `pending`: settled, but not finished. `unknown`: started, with an unknown outcome. */
export type Ran = 'yes' | 'no' | 'unknown' | 'pending';

/** How one call ended. */
export interface CallOutcome {
  /** The id of the call, such as `2.1` for the first call of the second turn. */
  callId: string;
  toolName: string;
  /** Absent: no reviewer was asked. */
  requestId?: string;
  outcome: OutcomeName;
  ran: Ran;
  /** True: the tool's check withheld the result from the model. */
  withheld?: true;
  /** For `cached`: the id of the call whose result answered this one. */
  resultOf?: string;
}

/** A question about one call. `requestId` is 32 hex characters, made by the run and used only once. */
export interface ApprovalRequest {
  requestId: string;
  /** The workflow id of the run that asks. */
  workflowId: string;
  toolName: string;
  /** One sentence that the tool's own `describe` made from the arguments. Absent: the tool has none. */
  sentence?: string;
  /** The arguments, as far as reviewers may see them. */
  arguments: JsonObject;
  riskLevel: Risk;
  assessment: Assessment;
  agentName: string;
  callerUserId: string | null;
  /** The model's text with the call, else the last user message; at most 500 characters. */
  contextSummary: string;
  /** Id of the rule that asks about the call; null if a risk default or a mode asks. */
  rule: string | null;
  /** `FILE:LINE` of that rule, if the rule is in the operator's policy and the worker read that policy from a file. */
  rulePlace?: string;
  /** Why the call is asked about. */
  reason: string;
  /** ISO 8601. */
  requestedAt: string;
  /** ISO 8601; null: the request waits for ever. */
  deadline: string | null;
  /** 64 hex characters that identify exactly what would run. See docs/wire.md. */
  digest: string;
  /** For a nested run: workflow ids of the runs above it, the root's first. Empty for any other run. */
  lineage: string[];
  /**
   * The earlier request about the call, and why this request replaces it: an edit, a change of the tool or the
   * preview after the approval, or a start with an unknown outcome. Without `requestId`, the call was started without
   * a request. `changes`: what changed in the preview, in words, redacted.
   */
  replaces?: {
    requestId?: string;
    by: 'edit' | 'definition' | 'preview' | 'unknown';
    changes?: readonly string[];
  };
  /** The metadata of the run's input. */
  metadata: JsonObject;
  /** The advisors' answers about the call, redacted like the summary. Absent: the run consulted no advisor. */
  advice?: readonly Advice[];
  /** The reviewers who may decide: names, or `group:NAME`. Empty: anyone. */
  reviewers: string[];
  /** `part`: some arguments are left out here. Query `approvals` with the id shows all that reviewers may see. */
  shown: 'all' | 'part';
  /** The arguments that contain a placeholder such as `[EMAIL …com · 5623]`. Absent: none. */
  redacted?: string[];
  /** The names of the arguments, and the bytes of their JSON. Absent: `arguments` has all of them. */
  argumentNames?: string[];
  argumentBytes?: number;
  /** Arguments that lists show, by `show` of the tool and the policies: one line each, cut, secrets replaced. */
  shownArguments?: Record<string, string>;
  /** The names of all arguments that `shownArguments` does not show in full. Present only with `shownArguments`. */
  notShown?: string[];
}

/** Messages of the user that the model had not received when it made a call. */
export interface UserMessages {
  /** The number of messages, at most 100. */
  count: number;
  /** The last ten, oldest first, redacted, each at most 500 characters; empty if the policy hides arguments. */
  last: string[];
}

/** How a request was settled. */
export interface Settlement {
  outcome: OutcomeName;
  /** True if the tool runs: the request was approved, or was superseded or expired in a way that allows the call. */
  runs: boolean;
  reason?: string;
  /** The reviewer whose vote settled it. */
  reviewerId?: string;
  /** As in the decision: what people call the reviewer. */
  reviewerName?: string;
  identity?: Identity;
  decisionId?: string;
  /** The view that the reviewer's channel says it showed before the vote. */
  viewed?: Viewed;
  /** ISO 8601. */
  settledAt: string;
  /** For `superseded`: what superseded the request. After an `edit`, request `byId` continues in its place. */
  by?: 'policy' | 'grant' | 'edit';
  /** The rule, grant or request that superseded it. */
  byId?: string | null;
  /** For `responded`: what the model gets as the tool's result. */
  response?: Json;
  /** The edited call that runs instead of the one that was asked about. */
  edited?: { arguments: JsonObject; digest: string };
}

/** One reviewer's vote on a request. */
export interface ReviewerVote {
  /** Absent: anonymous. */
  reviewerId?: string;
  /** As in the decision: what people call the reviewer. */
  reviewerName?: string;
  identity: Identity;
  /** The id of the key that signed the vote. Absent: the vote is not signed. */
  keyId?: string;
  approved: boolean;
  /** When the vote counted, in ISO 8601. */
  at: string;
  reason?: string;
  decisionId?: string;
  /** As in the decision. */
  viewed?: Viewed;
  /** As in the decision. */
  always?: boolean | RequestedScope;
  /** SHA-256 of the decision's canonical JSON: a retry under the same `decisionId` has the same. */
  contentDigest: string;
}

/** The answer to the sender of a decision or another message. */
export interface Receipt {
  /** Empty for a message that is not about one request. */
  requestId: string;
  /** True if the message took effect. */
  accepted: boolean;
  /** How the request is settled; absent while it is open. */
  outcome?: OutcomeName;
  /** Present while a quorum is incomplete. */
  votes?: { have: number; need: number };
  /** The grant that was made because the decision has `always`. */
  grantId?: string;
  /** Other requests that the new grant settled. */
  settled?: { requestId: string; outcome: OutcomeName }[];
  /** After an edit: the id of the request that now asks about the edited call. */
  successor?: string;
  /** Clients only: the server has the message, but no worker applied it in time, or the receipt cannot be read. */
  recorded?: true;
  /** The reviewer who settled the request, if it was settled already. */
  settledBy?: string;
  /** Present if the message was refused. */
  code?: ProblemCode;
  /** One sentence. */
  message: string;
}

/** A refused message, which changed nothing. The run keeps only its size and the members of `LateDecision`. */
export interface RefusedDecision extends Partial<LateDecision> {
  code: ProblemCode;
  requestId?: string;
  /** The size of the message, in characters of JSON, or in bytes if it cannot be decoded. */
  size: number;
}

/** A decision after the deadline. Its signature is not verified, so the sender's name is at most claimed. */
export interface LateDecision {
  approved: boolean;
  reviewerId?: string;
  identity: Exclude<Identity, 'verified'>;
  decisionId?: string;
}
