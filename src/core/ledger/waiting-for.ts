import type { NamedPerson } from '../people/directory.ts';
import type { RequestRecord } from './ledger.ts';

/** Whom an open request waits for, and until when. */
export interface WaitingFor {
  requestId: string;
  toolName: string;
  /** Who is asked now: names, or `group:NAME`; delegates in the place of those who delegated. Empty: anybody. */
  reviewers: string[];
  /** ISO 8601; null: for ever. */
  deadline: string | null;
  /** The names and further ids that the operator's directory has for them. Absent: none. */
  people?: Record<string, NamedPerson>;
}

export function waitingFor({ request, delegations }: Pick<RequestRecord, 'request' | 'delegations'>): WaitingFor {
  const { requestId, toolName, deadline } = request;
  const reviewers = new Set(request.reviewers);
  for (const { from, to } of delegations) {
    reviewers.delete(from);
    reviewers.add(to);
  }
  return { requestId, toolName, reviewers: [...reviewers], deadline };
}
