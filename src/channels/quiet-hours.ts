import { severities, type Severity } from '../core/base/tool-call.ts';
import type { QuietHours } from './channel-set-up.ts';

const minuteMs = 60_000;
const minutesOfDay = 1_440;
/** No time zone moves its clocks by more within half a day. */
const clockChange = 180;

/**
 * How long a notification waits, in milliseconds: until the first minute that is not quiet by the clocks of the time
 * zone, whichever way they are changed meanwhile; or not at all. A request that ends before these hours do does not wait:
 * nobody would hear of it. `endsAtMs`: its deadline; null: none.
 */
export function quietForMs(
  { above = 'high', ...hours }: QuietHours,
  { severity, endsAtMs }: { severity: Severity; endsAtMs: number | null },
  atMs: number,
): number {
  if (severities.indexOf(severity) > severities.indexOf(above)) return 0;
  const minutesOf = clockOf(hours.timeZone);
  const [start, end] = [minuteOf(hours.from), minuteOf(hours.to)];
  const isQuiet = (minute: number): boolean =>
    start <= end ? minute >= start && minute < end : minute >= start || minute < end;
  const now = minutesOf(atMs);
  if (!isQuiet(now)) return 0;
  // Without a change of clocks, that many minutes are left.
  const left = (end - now + minutesOfDay) % minutesOfDay;
  let untilMs = atMs - (atMs % minuteMs) + Math.max(1, left - clockChange) * minuteMs;
  while (isQuiet(minutesOf(untilMs))) untilMs += minuteMs;
  return endsAtMs !== null && endsAtMs <= untilMs ? 0 : untilMs - atMs;
}

function minuteOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}

/** The minute of the day at an instant, by the clocks of a time zone. */
function clockOf(timeZone: string): (atMs: number) => number {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return (atMs) => minuteOf(clock.format(atMs));
}
