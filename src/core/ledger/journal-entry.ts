import type { OutcomeName, Ran, Settlement } from './approval.ts';
import type { Identity } from '../people/entitlement.ts';
import type { GrantScope } from '../policy/grants.ts';
import type { Action } from '../policy/action.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Severity } from '../base/tool-call.ts';

/** What the ledger decided, written into payloads that history keeps anyway (design section 6). */
export interface JournalEntry {
  /** Dense over the whole chain of the run, from 1. */
  seq: number;
  kind:
    | 'ruling'
    | 'opened'
    | 'vote'
    | 'settled'
    | 'ran'
    | 'refused'
    | 'grant'
    | 'revoked'
    | 'policy'
    | 'reruled'
    | 'extended'
    | 'delegated'
    | 'warned'
    | 'reminded'
    | 'escalated';
  at: string;
  engine: number;
  callId?: string;
  requestId?: string;
  toolName?: string;
  /** Of a ruling and an opened request: whose call it was. */
  agent?: string;
  action?: Action;
  outcome?: OutcomeName;
  ran?: Ran;
  rule?: string | null;
  layer?: string;
  severity?: Severity;
  reason?: string;
  reviewerId?: string;
  /** `claimed`: a name in a raw signal or update, believed unless the rule demands more. */
  identity?: Identity;
  /** Of a vote. */
  approved?: boolean;
  /** Of a settled request: whether its tool runs. */
  runs?: boolean;
  /** Of an opened request: why it stands in the place of request `byId`. */
  by?: Settlement['by'] | 'definition';
  byId?: string | null;
  grantId?: string;
  /** Of a grant. */
  scope?: GrantScope;
  /** Reviewers who are asked besides, or now, or to whom a seat went. */
  to?: readonly string[];
  decisionId?: string;
  digest?: string;
  policyDigest?: string;
  deadline?: string | null;
  code?: ProblemCode;
  /** Characters of a refused payload; never its content (I4). */
  size?: number;
}
