import { defaultAssessment } from '../assess/assessment.ts';
import type { ApprovalRequest } from '../ledger/approval.ts';
import { hideInRequest } from '../ledger/hidden-arguments.ts';
import type { OpenRequest } from './open-request.ts';
import type { KnownCall, RunFacts } from './run-facts.ts';

/**
 * A request as its event shows it: from its journal entry, its row in the memo, and the call that the model asked for. The
 * arguments of an edited call are in no payload that only the gate writes, so they are left out.
 */
export function requestOf(
  requestId: string,
  { opened, row }: OpenRequest,
  facts: RunFacts,
): ApprovalRequest & { callId: string } {
  const callId = opened?.callId ?? '';
  const by = opened?.kind === 'opened' ? opened.by : undefined;
  const replaces = by === 'edit' || by === 'definition' ? { requestId: opened?.byId ?? '', by } : undefined;
  const asked = by === 'edit' ? undefined : facts.calls.get(callId);
  const riskLevel = row?.riskLevel ?? 'unknown';
  const assessment = asked?.assessment ?? defaultAssessment(riskLevel);
  const { toolName = row?.toolName ?? '', reason = row?.reason ?? '', at = '' } = opened ?? {};
  const severity = opened?.severity ?? row?.severity ?? assessment.severity;
  const request = {
    requestId,
    workflowId: facts.workflowId,
    callId,
    toolName,
    ...argumentsOf(asked, row),
    riskLevel,
    assessment: { ...assessment, severity },
    agentName: row?.agentName ?? opened?.agent ?? '',
    callerUserId: row?.callerUserId ?? facts.callerUserId,
    contextSummary: facts.contextSummary,
    rule: opened?.rule ?? row?.rule ?? null,
    reason: row?.reason ?? reason,
    requestedAt: row?.requestedAt ?? at,
    deadline: row?.deadline ?? opened?.deadline ?? null,
    digest: opened?.digest ?? row?.digest ?? '',
    lineage: facts.lineage,
    ...(replaces !== undefined && { replaces }),
    metadata: facts.metadata,
    reviewers: opened?.kind === 'opened' ? [...(opened.to ?? [])] : [],
    ...(row?.shownArguments !== undefined && { shownArguments: row.shownArguments, notShown: row.notShown ?? [] }),
  };
  if (!facts.hidesArguments) return request;
  const { shownArguments: _, notShown: __, ...hidden } = hideInRequest(request);
  return hidden;
}

type Arguments = Pick<ApprovalRequest, 'arguments' | 'shown' | 'argumentNames' | 'argumentBytes'>;

function argumentsOf(asked: KnownCall | undefined, row: OpenRequest['row']): Arguments {
  const args = asked?.arguments;
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return { arguments: args, shown: 'all' };
  const { argumentNames, argumentBytes } = row ?? {};
  return {
    arguments: {},
    shown: 'part',
    ...(argumentNames !== undefined && { argumentNames }),
    ...(argumentBytes !== undefined && { argumentBytes }),
  };
}
