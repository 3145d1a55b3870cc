import { formatDuration } from 'countersign/base';

const minuteMs = 60_000;

/** The time left until a deadline: seconds count in the last ten minutes. `passed` after it; empty if there is none. */
export function leftText(deadline: string | null, nowMs: number): string {
  if (deadline === null) return '';
  const leftMs = Date.parse(deadline) - nowMs;
  if (Number.isNaN(leftMs)) return '';
  if (leftMs <= 0) return 'passed';
  if (leftMs < 10 * minuteMs) return formatDuration(Math.ceil(leftMs / 1_000) * 1_000);
  return formatDuration(Math.floor(leftMs / minuteMs) * minuteMs);
}

/** How long ago something was, in its largest unit: `now`, `5m`, `3h`, `2d`. */
export function ageText(at: string, nowMs: number): string {
  const ageMs = nowMs - Date.parse(at);
  if (Number.isNaN(ageMs)) return '';
  if (ageMs < minuteMs) return 'now';
  if (ageMs < 60 * minuteMs) return `${Math.floor(ageMs / minuteMs)}m`;
  if (ageMs < 48 * 60 * minuteMs) return `${Math.floor(ageMs / (60 * minuteMs))}h`;
  return `${Math.floor(ageMs / (24 * 60 * minuteMs))}d`;
}

/** How near a deadline is: what has less than a tenth of its time left, and less than an hour, is urgent. */
export function isUrgent(requestedAt: string, deadline: string | null, nowMs: number): boolean {
  if (deadline === null) return false;
  const [fromMs, toMs] = [Date.parse(requestedAt), Date.parse(deadline)];
  const leftMs = toMs - nowMs;
  return leftMs < 60 * minuteMs && (leftMs < 2 * minuteMs || leftMs < (toMs - fromMs) / 10);
}
