import { queryRun, queryNames } from 'countersign/adapter';
import { isProblemError, isObject } from 'countersign/base';
import { cardOf, wholeText } from 'countersign/card';
import type { Session, ApprovalDetails, ApprovalSummary } from 'countersign/client';
import type { InboxRow } from './api.ts';
import type { Principal } from '../identity/principal.ts';
import { waitsFor } from './waits-for.ts';

/** What a row of the inbox shows of a request beside its summary. */
export interface RowFacts {
  sentence: string;
  reviewers: string[];
  delegations: { from: string; to: string }[];
  /** The people whose approval would count. Absent: the run does not say. */
  approvers?: string[];
  /** No further votes can approve it. */
  cannotBeApproved?: true;
  /** The names and ids of these people, by the operator's directory. */
  people?: Record<string, { name?: string; also: string[] }>;
}

const mostRequests = 50;
const mostNames = 200;
/** A gate writes far shorter ones. The limits bound what another workflow can make the gateway keep. */
const longestName = 500;
const longestSentence = 4_000;

/** Asks a run about its open requests. Empty if the run does not answer in time. */
export async function askRowFacts(
  session: Session,
  workflowId: string,
  timeoutMs: number,
): Promise<Map<string, RowFacts>> {
  try {
    return readRowFacts(await queryRun<unknown>(session, workflowId, queryNames.approvals, [], timeoutMs), workflowId);
  } catch (error) {
    if (isProblemError(error)) return new Map();
    throw error;
  }
}

/** The row as this person sees it; without facts, as the index has it. */
export function inboxRow(row: ApprovalSummary, facts: RowFacts | undefined, principal: Principal): InboxRow {
  if (facts === undefined) return { ...row, waitsFor: 'unknown' };
  const { sentence, reviewers, cannotBeApproved, people } = facts;
  return {
    ...row,
    sentence,
    reviewers,
    ...(cannotBeApproved && { cannotBeApproved }),
    ...(people !== undefined && { people }),
    waitsFor: waitsFor(principal, facts),
  };
}

/** The key of a row. It includes the workflow, because any workflow can list a request under another one's id. */
export function rowKey({ workflowId, requestId }: Pick<ApprovalSummary, 'workflowId' | 'requestId'>): string {
  return `${requestId} ${workflowId}`;
}

/** Reads the answer of query `approvals`, by request id. Any workflow may answer anything: malformed requests are left out. */
export function readRowFacts(answer: unknown, workflowId: string): Map<string, RowFacts> {
  const requests = Array.isArray(answer) ? answer.slice(0, mostRequests) : [];
  const facts = new Map<string, RowFacts>();
  for (const request of requests as unknown[]) {
    if (!isObject(request) || request['workflowId'] !== workflowId) continue;
    const { requestId, reviewers, delegations = [], approvers, people, cannotBeApproved } = request;
    if (typeof requestId !== 'string' || !isNames(reviewers) || !isDelegations(delegations)) continue;
    const sentence = sentenceOf(request);
    if (sentence === undefined) continue;
    // Copied, so that no other member of a workflow's objects is kept.
    facts.set(requestId, {
      sentence,
      reviewers,
      delegations: delegations.map(({ from, to }) => ({ from, to })),
      ...(isNames(approvers) && { approvers }),
      ...(typeof cannotBeApproved === 'string' && { cannotBeApproved: true }),
      ...(isObject(people) && { people: idsOf(people) }),
    });
  }
  return facts;
}

/** The sentence of its card, with a note if it is cut: what is invisible is made visible. Undefined if it is no request. */
function sentenceOf(request: object): string | undefined {
  try {
    const text = wholeText(cardOf(request as ApprovalDetails).sentence);
    return text.length > longestSentence ? undefined : text;
  } catch {
    return undefined;
  }
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= mostNames && value.every(isName);
}

function idsOf(people: object): RowFacts['people'] {
  const named = Object.entries(people).slice(0, mostNames) as [string, unknown][];
  return Object.fromEntries(
    named.flatMap(([id, person]) => {
      const { name, also = [] } = isObject(person) ? person : { also: null };
      return isName(id) && isNames(also) ? [[id, { also, ...(isName(name) && { name }) }] as const] : [];
    }),
  );
}

function isDelegations(value: unknown): value is RowFacts['delegations'] {
  return (
    Array.isArray(value) &&
    value.length <= mostNames &&
    value.every((each) => isObject(each) && isName(each['from']) && isName(each['to']))
  );
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestName;
}
