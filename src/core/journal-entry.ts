import type { OutcomeName, Ran } from './approval.ts';
import type { Action } from './policy.ts';
import type { ProblemCode } from './problem.ts';
import type { Severity } from './tool-call.ts';

/** What the ledger decided, written into payloads that history keeps anyway (design section 6). */
export interface JournalEntry {
  /** Dense over the whole chain of the run, from 1. */
  seq: number;
  kind: 'ruling' | 'opened' | 'settled' | 'ran' | 'refused';
  at: string;
  engine: number;
  callId?: string;
  requestId?: string;
  toolName?: string;
  action?: Action;
  outcome?: OutcomeName;
  ran?: Ran;
  rule?: string | null;
  layer?: string;
  severity?: Severity;
  reason?: string;
  reviewerId?: string;
  /** `claimed`: a name in a raw signal or update, believed unless the rule demands more. */
  identity?: 'claimed' | 'anonymous';
  decisionId?: string;
  digest?: string;
  policyDigest?: string;
  deadline?: string | null;
  code?: ProblemCode;
  /** Characters of a refused payload; never its content (I4). */
  size?: number;
}
