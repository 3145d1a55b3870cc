import { uuid4, workflowInfo } from '@temporalio/workflow';
import type { ApprovalRequest } from '../../core/ledger/approval.ts';
import { reviewersAt, type AskTerms } from '../../core/policy/ask-terms.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import { iso } from '../../core/ledger/ledger.ts';
import type { Ruling } from '../../core/policy/ruling.ts';
import type { JsonObject, Risk } from '../../core/base/tool-call.ts';
import type { GateOptions, RuledCase } from './active-policies.ts';

/** A call that is to be asked about, and all that is known of it. */
export interface CallToAsk {
  callId: string;
  tool: string;
  args: JsonObject;
  risk: Risk;
  ruled: RequestRecord['ruled'];
  digest: string;
  ruledCase: RuledCase;
  contextSummary: string;
  lineage: string[];
  replaces?: ApprovalRequest['replaces'];
  /** Workflow time of opening. */
  atMs: number;
  /** No deadline is later, whatever the rules say; null or absent: they alone say it. */
  latestMs?: number | null;
}

/** Makes the request that asks about a call, not open yet. Its id is new: nobody can have answered it (I4). */
export function recordRequest(options: GateOptions, call: CallToAsk): RequestRecord {
  const { tool, args, risk, ruledCase, digest, atMs, latestMs, replaces } = call;
  const { ruling, terms, assessment } = ruledCase;
  const { agent, caller, metadata } = options;
  const endMs = Math.min(atMs + (terms.timeoutMs ?? Infinity), latestMs ?? Infinity);
  const deadlineMs = endMs === Infinity ? null : endMs;
  return {
    callId: call.callId,
    deadlineMs,
    request: {
      requestId: uuid4().replaceAll('-', ''),
      workflowId: workflowInfo().workflowId,
      toolName: tool,
      arguments: args,
      riskLevel: risk,
      assessment,
      agentName: agent,
      callerUserId: caller?.userId ?? null,
      contextSummary: call.contextSummary.slice(0, 500),
      rule: ruling.rule,
      reason: whyAsked(ruling, risk),
      requestedAt: iso(atMs),
      deadline: deadlineMs === null ? null : iso(deadlineMs),
      digest,
      lineage: call.lineage,
      ...(replaces === undefined ? {} : { replaces }),
      metadata: metadata ?? {},
      reviewers: reviewersOf(terms, 0),
      shown: 'all',
    },
    terms,
    votes: [],
    delegations: [],
    ...(!ruledCase.limits.includeArguments && { hidden: true as const }),
    ladderMs: atMs - 1,
    ruled: call.ruled,
  };
}

/** What reviewers read where the rule gives no reason. */
export function whyAsked({ rule, reason }: Ruling, risk: Risk): string {
  return reason ?? (rule === null ? `Risk default for ${risk}` : `Rule ${rule} asks`);
}

/** Everybody who is asked, that long after the request was opened. */
export function reviewersOf({ requirements }: AskTerms, waitedMs: number): string[] {
  return [...new Set(requirements.flatMap((each) => [...reviewersAt(each, waitedMs), ...each.oneOfEach]))];
}
