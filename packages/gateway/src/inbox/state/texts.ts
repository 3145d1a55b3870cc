import { formatDuration, shownName } from 'countersign/base';
import type { InboxRow } from '../../http/inbox/api.ts';

const minuteMs = 60_000;

/** The time until a deadline, with seconds in the last ten minutes. `passed` after it; empty without a valid one. */
export function leftText(deadline: string | null, nowMs: number): string {
  if (deadline === null) return '';
  const leftMs = Date.parse(deadline) - nowMs;
  if (Number.isNaN(leftMs)) return '';
  if (leftMs <= 0) return 'passed';
  if (leftMs < 10 * minuteMs) return formatDuration(Math.ceil(leftMs / 1_000) * 1_000);
  return formatDuration(Math.floor(leftMs / minuteMs) * minuteMs);
}

/** The time since an instant in one unit, such as `now`, `5m`, `3h` or `2d`; empty if `at` is no time. */
export function ageText(at: string, nowMs: number): string {
  const ageMs = nowMs - Date.parse(at);
  if (Number.isNaN(ageMs)) return '';
  if (ageMs < minuteMs) return 'now';
  if (ageMs < 60 * minuteMs) return `${Math.floor(ageMs / minuteMs)}m`;
  if (ageMs < 48 * 60 * minuteMs) return `${Math.floor(ageMs / (60 * minuteMs))}h`;
  return `${Math.floor(ageMs / (24 * 60 * minuteMs))}d`;
}

export interface NotificationTexts {
  title: string;
  body: string;
  /** A notification replaces an earlier one with the same tag, even one of another browser tab. */
  tag: string;
  row?: Pick<InboxRow, 'workflowId' | 'requestId'>;
}

const mostApart = 3;

/** The notifications for new requests, or one for many. They name no arguments: others may see a phone's screen. */
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

/** A duration as text, such as `< 0.1s`, `0.4s`, `2m5s` or `3h20m`. */
export function medianText(ms: number): string {
  if (ms > 0 && ms < 50) return '< 0.1s';
  if (ms < 60_000) return formatDuration(Math.round(ms / 100) * 100);
  if (ms < 3_600_000) return formatDuration(Math.round(ms / 1_000) * 1_000);
  return formatDuration(Math.round(ms / 60_000) * 60_000);
}

export const ranWords: Readonly<Record<'yes' | 'no' | 'unknown' | 'pending', string>> = {
  yes: 'ran',
  no: 'did not run',
  unknown: 'may have run',
  pending: 'not ended yet',
};

export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
