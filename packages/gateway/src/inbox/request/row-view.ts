import type { ApprovalDetails } from 'countersign/client';
import type { ApprovalView, InboxPage, InboxRow } from '../../http/inbox/api.ts';
import { apiPath, getJson } from '../api/fetch-json.ts';
import { openRequests } from '../state/open-requests.ts';
import { isSameRequest, type RequestIds } from '../state/paths.ts';
import { makeWholeCard } from './whole-card.ts';

/** Makes a partial view of an open request from its row, which needs no worker. Undefined if there is no such row. */
export async function readRowView(ids: RequestIds): Promise<ApprovalView | undefined> {
  const row = await rowOf(ids);
  if (row === undefined) return undefined;
  const { sentence, waitsFor } = row;
  const request = requestOf(row);
  const { card, digest: cardDigest } = await makeWholeCard({ request: { ...request, shown: 'part' }, sentence });
  return { request, card, cardDigest, waitsFor };
}

async function rowOf(ids: RequestIds): Promise<InboxRow | undefined> {
  const isIt = (row: InboxRow): boolean => isSameRequest(row, ids);
  const listed = openRequests.get().open?.rows.find(isIt);
  if (listed !== undefined) return listed;
  const path = apiPath`/approvals?workflowId=${ids.workflowId}`;
  return (await getJson<InboxPage>(`${path}&limit=500`)).approvals.find(isIt);
}

/** The request as far as its row has it. What only the run knows, such as the whole arguments, is empty. */
function requestOf(row: InboxRow): ApprovalDetails {
  const { severity, callerName, argumentNames, notShown = argumentNames, reviewers = [], lineage = [] } = row;
  const { sentence: _, waitsFor: __, undelivered: ___, ...facts } = row;
  return {
    ...facts,
    arguments: {},
    argumentNames,
    notShown,
    reviewers,
    lineage,
    assessment: {
      severity,
      reasons: [],
      affectedResources: [],
      reversible: row.riskLevel !== 'destructive',
      recommendations: [],
      requiresApproval: true,
    },
    contextSummary: '',
    metadata: {},
    ...(callerName !== undefined &&
      row.callerUserId !== null && { people: { [row.callerUserId]: { name: callerName } } }),
  };
}
