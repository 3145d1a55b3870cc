import { severities, type Severity } from '../core/base/tool-call.ts';
import type { QuietHours } from './channel-set-up.ts';

/** How long a notification waits, in milliseconds: until the quiet hours are over, or not at all. */
export function quietForMs(
  { from, to, timeZone, above = 'high' }: QuietHours,
  severity: Severity,
  atMs: number,
): number {
  if (severities.indexOf(severity) > severities.indexOf(above)) return 0;
  const [start, end, now] = [minuteOf(from), minuteOf(to), minuteAt(atMs, timeZone)];
  const isQuiet = start <= end ? now >= start && now < end : now >= start || now < end;
  return isQuiet ? ((end - now + 1_440) % 1_440) * 60_000 - (atMs % 60_000) : 0;
}

function minuteOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}

function minuteAt(atMs: number, timeZone: string): number {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return minuteOf(clock.format(atMs));
}
