import { shownPerson } from 'countersign/base';
import type { ApprovalResultEvent } from 'countersign/client';

type Result = Pick<
  ApprovalResultEvent,
  'decision' | 'reviewerId' | 'reviewerName' | 'reason' | 'identity' | 'by' | 'byId'
>;

const words: Readonly<Record<ApprovalResultEvent['decision'], string>> = {
  approved: 'approved',
  approved_always: 'approved',
  denied: 'denied',
  responded: 'answered in the place of the tool',
  expired: 'expired: no decision in time',
  cancelled: 'cancelled with the run',
  superseded: 'settled',
};

/** How a request was settled and by whose answer, such as `approved by ann`, without the reason. */
export function settledText({ decision, by, byId, ...result }: Omit<Result, 'reason'>): string {
  const who = result.reviewerId === null ? '' : ` by ${reviewerText(result)}`;
  const cause = decision === 'superseded' && by !== undefined ? ` by ${causeText(by, byId)}` : '';
  const more = decision === 'approved_always' ? ', also for further calls' : '';
  return `${words[decision] ?? decision}${cause}${who}${more}`;
}

function causeText(by: string, byId: Result['byId']): string {
  if (by === 'grant') return byId == null ? 'grant' : `grant ${byId}`;
  return by === 'edit' ? 'an edit' : `a ${by}`;
}

export function decisionText(result: Result): string {
  const { reason } = result;
  return `${settledText(result)}${reason === null || reason === '' ? '' : ` – ${reason}`}`;
}

/** The name of a reviewer, with a note if the name is only claimed. */
export function reviewerText({
  reviewerId,
  reviewerName,
  identity,
}: Pick<Result, 'reviewerId' | 'reviewerName' | 'identity'>): string {
  if (reviewerId === null) return 'A reviewer without a name';
  return `${shownPerson(reviewerId, reviewerName)}${identity === 'verified' ? '' : ' (claimed name)'}`;
}
