import type { CallPreview } from '../core/base/call-preview.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { AlwaysTerms } from '../core/ledger/make-grant.ts';
import type { EarlierDenial } from '../core/ledger/denials.ts';
import type { EarlierRun } from '../core/ledger/earlier-run.ts';
import type { NamedPerson } from '../core/people/directory.ts';
import type { ApprovalRequest, ReviewerVote, Settlement, UserMessages } from '../core/ledger/approval.ts';

/** A request, and what is known beside it: the answer of query `approvals` with an id. */
export interface CardRequest extends ApprovalRequest {
  settled?: Settlement;
  votes?: ReviewerVote[];
  approvals?: { have: number; need: number };
  cannotBeApproved?: string;
  delegations?: { from: string; to: string }[];
  schema?: JsonObject;
  preview?: CallPreview;
  always?: AlwaysTerms;
  ranBefore?: EarlierRun;
  deniedBefore?: EarlierDenial;
  userMessages?: UserMessages;
  /** What the operator's directory says of the people who are named here. */
  people?: Record<string, NamedPerson>;
  /** What happens at the deadline. Default: `deny`. */
  onTimeout?: 'deny' | 'allow';
}
