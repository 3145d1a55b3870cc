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
  expired: 'expired: nobody decided in time',
  cancelled: 'cancelled with the run',
  superseded: 'settled',
};

/** How a request was settled, by whom and why, in one line. */
export function decisionText({ decision, reviewerId, reviewerName, reason, identity, by, byId }: Result): string {
  const who =
    reviewerId === null
      ? ''
      : ` by ${shownPerson(reviewerId, reviewerName)}${identity === 'verified' ? '' : ' (claimed name)'}`;
  const thing = byId == null ? '' : ` ${byId}`;
  const way =
    decision === 'superseded' && by !== undefined
      ? ` by ${by === 'grant' ? `grant${thing}` : `a${by === 'edit' ? 'n edit' : ` ${by}`}`}`
      : '';
  const more = decision === 'approved_always' ? ', also for further calls' : '';
  return `${words[decision] ?? decision}${way}${who}${more}${reason === null || reason === '' ? '' : ` – ${reason}`}`;
}

export function decisionTone({ decision }: Pick<Result, 'decision'>): 'good' | 'bad' | 'plain' {
  if (decision === 'approved' || decision === 'approved_always') return 'good';
  return decision === 'denied' || decision === 'expired' ? 'bad' : 'plain';
}
