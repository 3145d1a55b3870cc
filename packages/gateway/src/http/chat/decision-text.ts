import { formatDuration, shownPerson, visibleText } from 'countersign/base';
import type { ApprovalResultEvent } from 'countersign/client';
import type { ChatThread } from './chat-thread.ts';

/**
 * One sentence that says who has decided a request, and why. To the person who decided it: only their own reason, or null if they
 * gave none.
 */
export async function decisionText(
  event: ApprovalResultEvent,
  { client, principal }: Pick<ChatThread, 'client' | 'principal'>,
): Promise<string | null> {
  const { decision, reason, reviewerId, reviewerName, ran, by } = event;
  const who = reviewerId === null ? undefined : visibleText(shownPerson(reviewerId, reviewerName));
  const because = reason === null || reason.trim() === '' ? '' : `: ${reason}`;
  switch (decision) {
    case 'approved':
    case 'approved_always':
      return reviewerId === principal.id ? reason : `Approved${who === undefined ? '' : ` by ${who}`}${because}`;
    case 'denied':
      return reviewerId === principal.id ? reason : `Denied${who === undefined ? '' : ` by ${who}`}${because}`;
    case 'expired':
      return `No decision${await waited(event, client)}${ran === 'no' ? '' : ', so the call runs'}`;
    case 'cancelled':
      return `Cancelled${because}`;
    case 'responded':
      return `Answered in the tool's place${who === undefined ? '' : ` by ${who}`}`;
    case 'superseded':
      if (by === 'grant') return 'An earlier approval covers this call';
      return ran === 'no' ? `Denied by the policy${because}` : 'The policy allows this call now';
  }
}

/** How long the request waited in the end; it may have been extended since it was asked. */
async function waited({ requestId, workflowId }: ApprovalResultEvent, client: ChatThread['client']): Promise<string> {
  const details = await client.approvals.get(requestId, { workflowId }).catch(() => undefined);
  if (details === undefined || details.deadline === null) return '';
  return ` within ${formatDuration(Date.parse(details.deadline) - Date.parse(details.requestedAt))}`;
}
