/**
 * Instants in a readable form. Texts of a digest and of a workflow keep ISO 8601: they depend on neither a zone nor the
 * current time.
 */
import { formatTimeLeft } from '../core/base/duration.ts';
import { shortened } from '../core/base/text.ts';
import { instantMs } from '../core/messages/control.ts';
import { visibleText } from './visible-text.ts';

/** The clock of a reader. */
export interface ReaderClock {
  /** An IANA time zone, such as `Europe/Berlin`. Default: UTC. */
  timeZone?: string;
  /**
   * The current time, in milliseconds since 1970, for a text that is read at once: an instant of the same day has no
   * date. Default: each instant has its date.
   */
  nowMs?: number;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Longer than any instant. */
const longestOther = 60;

/**
 * An instant (ISO 8601) with its zone in words, for a reader: `29 Nov 2026, 14:30 UTC`, or `14:30 UTC` on the same day.
 * Any other text is returned as visible text.
 */
export function instantText(instant: string, { timeZone = 'UTC', nowMs }: ReaderClock = {}): string {
  const atMs = instantMs(instant);
  if (atMs === undefined) return visibleText(shortened(instant, longestOther));
  const { date, time, zone } = readClock(atMs, timeZone);
  const isToday = nowMs !== undefined && readClock(nowMs, timeZone).date === date;
  return `${isToday ? '' : `${date}, `}${time} ${zone}`;
}

/** A deadline with the time left at `nowMs`, such as `29 Nov 2026, 14:30 UTC (25m left)`. */
export function deadlineText(deadline: string, nowMs: number, clock: ReaderClock = {}): string {
  const atMs = instantMs(deadline);
  const text = instantText(deadline, clock);
  return atMs === undefined ? text : `${text} (${leftText(formatTimeLeft(atMs - nowMs))})`;
}

/** `left`: as `formatTimeLeft` returns it. */
export function leftText(left: string): string {
  return left === 'passed' ? left : `${left} left`;
}

/** The clock of the user at the terminal of this process. */
export function terminalClock(nowMs?: number): ReaderClock {
  // oxlint-disable-next-line no-restricted-globals -- no replay loads this file
  return { timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone, nowMs };
}

/** True for an existing zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    // oxlint-disable-next-line no-restricted-globals -- no replay loads this file
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function readClock(atMs: number, timeZone: string): { date: string; time: string; zone: string } {
  // Without `Intl`, whose texts differ between versions: digests of cards hold such texts in UTC.
  if (timeZone === 'UTC') {
    // oxlint-disable-next-line no-restricted-globals -- it converts a given instant
    const [day, time] = new Date(atMs).toISOString().split('T') as [string, string];
    const [year, month, date] = day.split('-') as [string, string, string];
    return { date: dateText(year, month, date), time: time.slice(0, 5), zone: 'UTC' };
  }
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
  // oxlint-disable-next-line no-restricted-globals -- no replay loads this file
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, ...numeric, ...clock }).formatToParts(atMs);
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)?.value ?? '';
  return {
    date: dateText(part('year'), part('month'), part('day')),
    time: `${part('hour')}:${part('minute')}`,
    zone: part('timeZoneName'),
  };
}

function dateText(year: string, month: string, day: string): string {
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`;
}
