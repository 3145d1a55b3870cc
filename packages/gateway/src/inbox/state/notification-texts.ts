import { shownName } from 'countersign/base';
import type { InboxRow } from '../../http/inbox/api.ts';

/** What a notification of the browser shows, and where it leads. */
export interface NotificationTexts {
  title: string;
  body: string;
  /** A notification takes the place of an earlier one with the same tag, also of another tab. */
  tag: string;
  /** Absent: the list. */
  row?: Pick<InboxRow, 'workflowId' | 'requestId'>;
}

const mostApart = 3;

/**
 * The notifications of requests that are new. The lock screen of a phone shows them to everybody near it, so they name the
 * agent and the tool and no argument. Many at once make one.
 */
export function notificationsOf(rows: readonly InboxRow[]): NotificationTexts[] {
  const own = rows.filter(({ waitsFor }) => waitsFor !== 'others');
  if (own.length > mostApart) {
    return [{ title: `${own.length} calls wait for a decision`, body: 'Open the inbox.', tag: 'countersign-many' }];
  }
  return own.map((row) => ({
    title: row.waitsFor === 'you' ? 'A call waits for you' : 'A call waits for a decision',
    body: `${shownName(row.agentName)} wants to call ${shownName(row.toolName)}`,
    tag: `countersign-${row.requestId}`,
    row,
  }));
}
