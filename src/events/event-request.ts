import { defaultAssessment, joinAssessments } from '../core/assess/assessment.ts';
import type { ApprovalRequest } from '../core/ledger/approval.ts';
import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import { hideInRequest } from '../core/ledger/hidden-arguments.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { redactText } from '../core/redact/find-sensitive.ts';
import { withoutHidden } from '../core/redact/join-redactions.ts';
import { redactedArguments, redactedNames } from '../core/redact/redact-arguments.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { KnownCall, RunFacts } from './run-facts.ts';

/** The facts of the history about a request that is not settled. At least one of the first two members is known. */
export interface OpenRequest {
  opened?: JournalEntry;
  row?: ApprovalSummary;
  /** True once the request has its event. */
  isAnnounced: boolean;
}

/**
 * A request as its event shows it: from its journal entry, its row in the memo, and the call of the model. The
 * arguments of an edited call are in no payload that only the gate writes, so they are left out.
 */
export function eventRequest(
  requestId: string,
  { opened, row }: OpenRequest,
  facts: RunFacts,
): ApprovalRequest & { callId: string } {
  const callId = opened?.callId ?? '';
  const by = opened?.kind === 'opened' ? opened.by : undefined;
  const isReplacing = by === 'edit' || by === 'definition' || by === 'preview';
  const replaces = isReplacing ? { requestId: opened?.byId ?? '', by } : undefined;
  const asked = by === 'edit' ? undefined : facts.calls.get(callId);
  const copy = asked === undefined ? undefined : reviewersCopy(asked, facts);
  const redacted = redactedNames(asked?.redaction?.values ?? []);
  const riskLevel = row?.riskLevel ?? 'unknown';
  // History keeps the results of assessors. Of the `assess` rules of policies it keeps only the resulting severity.
  const recorded = asked?.assessment === undefined ? [] : [asked.assessment];
  const assessment = joinAssessments([defaultAssessment(riskLevel), ...recorded]);
  const { toolName = row?.toolName ?? '', reason = row?.reason ?? '', at = '' } = opened ?? {};
  const severity = opened?.severity ?? row?.severity ?? assessment.severity;
  const request = {
    requestId,
    workflowId: facts.workflowId,
    callId,
    toolName,
    ...argumentsOf(copy, row),
    riskLevel,
    assessment: { ...assessment, severity },
    agentName: row?.agentName ?? opened?.agent ?? '',
    callerUserId: row?.callerUserId ?? facts.callerUserId,
    contextSummary: summaryOf(facts, asked, copy),
    rule: opened?.rule ?? row?.rule ?? null,
    reason: row?.reason ?? reason,
    requestedAt: row?.requestedAt ?? at,
    deadline: row?.deadline ?? opened?.deadline ?? null,
    digest: opened?.digest ?? row?.digest ?? '',
    lineage: facts.lineage,
    ...(copy !== undefined && redacted.length > 0 && { redacted }),
    ...(replaces !== undefined && { replaces }),
    metadata: facts.metadata,
    ...(opened?.kind === 'opened' && opened.advice !== undefined && { advice: opened.advice }),
    reviewers: opened?.kind === 'opened' ? [...(opened.to ?? [])] : [],
    ...(row?.shownArguments !== undefined && { shownArguments: row.shownArguments, notShown: row.notShown ?? [] }),
  };
  if (!facts.hidesArguments) return request;
  const { shownArguments: _, notShown: __, redacted: ___, ...hidden } = hideInRequest(request);
  return hidden;
}

type Arguments = Pick<ApprovalRequest, 'arguments' | 'shown' | 'argumentNames' | 'argumentBytes'>;

/** The arguments as reviewers see them. Undefined if it is unknown which parts they may see. */
function reviewersCopy({ arguments: args, redaction }: KnownCall, facts: RunFacts): JsonObject | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  // If all arguments are hidden, return them as they are: the caller shows only their names and sizes.
  if (facts.hidesArguments) return args;
  if (!facts.redacts && !facts.mayHideMore) return args;
  return redaction === undefined || facts.mayHideMore ? undefined : redactedArguments(args, redaction.values);
}

/** The most characters that are searched for secrets. Many more than are shown, so that no secret is cut in two. */
const mostSearched = 4_000;
const mostShown = 500;

function summaryOf(facts: RunFacts, asked: KnownCall | undefined, copy: JsonObject | undefined): string {
  const { contextSummary } = facts;
  if (!facts.redacts && !facts.mayHideMore) return contextSummary.slice(0, mostShown);
  if (asked?.redaction === undefined || copy === undefined) return '';
  const { kinds, values } = asked.redaction;
  const args = asked.arguments as JsonObject;
  return redactText(withoutHidden(contextSummary.slice(0, mostSearched), args, values), kinds).slice(0, mostShown);
}

function argumentsOf(copy: JsonObject | undefined, row: OpenRequest['row']): Arguments {
  if (copy !== undefined) return { arguments: copy, shown: 'all' };
  const { argumentNames, argumentBytes } = row ?? {};
  return {
    arguments: {},
    shown: 'part',
    ...(argumentNames !== undefined && { argumentNames }),
    ...(argumentBytes !== undefined && { argumentBytes }),
  };
}
