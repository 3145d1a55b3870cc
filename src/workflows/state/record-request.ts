import { uuid4, workflowInfo } from '@temporalio/workflow';
import type { ApprovalRequest } from '../../core/ledger/approval.ts';
import { type RequestRecord, iso } from '../../core/ledger/ledger.ts';
import { termsOfWait } from '../../core/policy/ask-terms.ts';
import { shownArguments } from '../../core/ledger/shown-arguments.ts';
import { reviewersOf, whyAsked } from '../../core/ledger/waiting-for.ts';
import type { Redaction } from '../../core/redact/redaction.ts';
import type { JsonObject, Risk } from '../../core/base/tool-call.ts';
import type { ActivePolicies, RuledCase } from './active-policies.ts';
import { redactionFor, redactSummary } from './redact-request.ts';

/** A call to ask about, and everything that is known of it. */
export interface CallToAsk {
  callId: string;
  tool: string;
  args: JsonObject;
  risk: Risk;
  ruled: RequestRecord['ruled'];
  digest: string;
  ruledCase: RuledCase;
  contextSummary: string;
  /** One sentence by the tool's own `describe`. */
  sentence?: string;
  lineage: string[];
  /** What the activity that parsed the arguments found to be redacted. */
  redaction?: Redaction;
  replaces?: ApprovalRequest['replaces'];
  advice?: ApprovalRequest['advice'];
  previewTimeoutMs?: number;
  /** True: an approval binds the preview. */
  binds?: boolean;
  /** Workflow time at which the request is opened. */
  atMs: number;
  /** The latest possible deadline, whatever the policies say; null or absent: no such limit. */
  latestMs?: number | null;
}

/** Creates the request for a call, without opening it. Its id is new, so no earlier message can answer it (I4). */
export function recordRequest(active: ActivePolicies, call: CallToAsk): RequestRecord {
  const { tool, args, risk, ruledCase, digest, atMs, latestMs, replaces } = call;
  const { ruling, terms, assessment, redact, limits } = ruledCase;
  // Parts that were found under a policy which no longer redacts stay hidden.
  const redaction = redact === undefined ? call.redaction : redactionFor(call, redact);
  const isHidden = !limits.includeArguments || (redact !== undefined && redaction === undefined);
  const { agent, caller, metadata } = active.options;
  const waiting = { terms, delegations: [], stepsTakenUntilMs: atMs - 1 };
  const timeoutMs = Math.min(
    terms.timeoutMs ?? Infinity,
    active.channelTimeoutMs({
      ...waiting,
      request: { requestedAt: iso(atMs), toolName: tool, agentName: agent, assessment },
    }),
  );
  const endMs = Math.min(atMs + timeoutMs, latestMs ?? Infinity);
  const deadlineMs = endMs === Infinity ? null : endMs;
  const waitMs = endMs === Infinity ? null : endMs - atMs;
  return {
    callId: call.callId,
    deadlineMs,
    request: {
      requestId: uuid4().replaceAll('-', ''),
      workflowId: workflowInfo().workflowId,
      toolName: tool,
      sentence: call.sentence,
      arguments: args,
      riskLevel: risk,
      assessment,
      agentName: agent,
      callerUserId: caller?.userId ?? null,
      contextSummary: (redaction === undefined
        ? call.contextSummary
        : redactSummary(call.contextSummary, args, redaction)
      ).slice(0, 500),
      rule: ruling.rule,
      rulePlace: ruledCase.rulePlace,
      reason: whyAsked(ruling, risk),
      requestedAt: iso(atMs),
      deadline: deadlineMs === null ? null : iso(deadlineMs),
      digest,
      lineage: call.lineage,
      replaces: replaces && shownReplaces(replaces, args, redaction),
      metadata: metadata ?? {},
      advice: call.advice,
      reviewers: reviewersOf(terms, 0),
      shown: 'all',
      ...(!isHidden && shownArguments(args, ruledCase.show, redaction?.values)),
    },
    ...waiting,
    terms: termsOfWait(terms, waitMs),
    votes: [],
    hidden: isHidden ? true : undefined,
    redaction,
    previewTimeoutMs: call.previewTimeoutMs,
    ...(call.binds === true && { bound: isHidden ? ('hidden' as const) : ('pending' as const) }),
    ruled: call.ruled,
  };
}

function shownReplaces(
  replaces: NonNullable<ApprovalRequest['replaces']>,
  args: JsonObject,
  redaction: Redaction | undefined,
): ApprovalRequest['replaces'] {
  const { changes } = replaces;
  if (changes === undefined || redaction === undefined) return replaces;
  return { ...replaces, changes: changes.map((each) => redactSummary(each, args, redaction)) };
}
