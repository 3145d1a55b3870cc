/** Writes instants for readers. Digests and workflows use ISO 8601 instead, which depends on no zone and no clock. */
import { shortened } from '../core/base/text.ts';
import { instantMs } from '../core/messages/control.ts';
import { visibleText } from './visible-text.ts';

export interface ReaderClock {
  /** An IANA time zone, such as `Europe/Berlin`. Default: UTC. */
  timeZone?: string;
  /** The present time, in ms since 1970. Instants of the same day omit the date, those of the same year the year. */
  nowMs?: number;
  /** True if the reader is in this time zone, so that texts need not name it. */
  isLocal?: boolean;
}

const minuteMs = 60_000;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** The most characters that are shown of a text that is no instant. */
const longestOther = 60;

/** An instant (ISO 8601) for a reader: `29 Nov 2026, 14:30 UTC`, or `14:30 UTC` today. Other text is made visible. */
export function instantText(instant: string, { timeZone = 'UTC', nowMs, isLocal = false }: ReaderClock = {}): string {
  const atMs = instantMs(instant);
  if (atMs === undefined) return visibleText(shortened(instant, longestOther));
  const { day, year, time, zone } = readClock(atMs, timeZone);
  const now = nowMs === undefined ? undefined : readClock(nowMs, timeZone);
  const [isToday, isThisYear] = [now?.day === day && now.year === year, now?.year === year];
  return `${isToday ? '' : `${day}${isThisYear ? '' : ` ${year}`}, `}${time}${isLocal ? '' : ` ${zone}`}`;
}

/** A deadline with the time left at `nowMs`, such as `29 Nov 2026, 14:30 UTC (in 25 min)`. */
export function deadlineText(deadline: string, nowMs: number, clock: ReaderClock = {}): string {
  const atMs = instantMs(deadline);
  const text = instantText(deadline, clock);
  return atMs === undefined ? text : `${text} (${leftText(timeLeft(atMs - nowMs))})`;
}

/** The time left in two units: `3 h 45 min`, from 48 hours on `2 d 3 h`, below ten minutes `9 min 5 s`; or `passed`. */
export function timeLeft(leftMs: number): string {
  if (leftMs < 0) return 'passed';
  if (leftMs < 10 * minuteMs) return inUnits(Math.ceil(leftMs / 1_000), 60, ['min', 's']);
  const minutes = Math.round(leftMs / minuteMs);
  return minutes < 48 * 60 ? inUnits(minutes, 60, ['h', 'min']) : inUnits(Math.round(minutes / 60), 24, ['d', 'h']);
}

function inUnits(count: number, size: number, [large, small]: [string, string]): string {
  const [many, few] = [Math.floor(count / size), count % size];
  return [...(many > 0 ? [`${many} ${large}`] : []), ...(few > 0 || many === 0 ? [`${few} ${small}`] : [])].join(' ');
}

/** Puts `in` before a time that `timeLeft` returns, unless it has passed. */
export function leftText(left: string): string {
  return left === 'passed' ? left : `in ${left}`;
}

/** The clock of the user at the terminal of this process. */
export function terminalClock(nowMs?: number): ReaderClock {
  // oxlint-disable-next-line no-restricted-globals -- no replay loads this file
  return { timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone, nowMs, isLocal: true };
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

/** The parts of an instant in a time zone. `day`: such as `29 Nov`. */
function readClock(atMs: number, timeZone: string): { day: string; year: string; time: string; zone: string } {
  // UTC is written without `Intl`, whose texts differ between versions, because digests of cards cover times in UTC.
  if (timeZone === 'UTC') {
    // oxlint-disable-next-line no-restricted-globals -- it converts a given instant
    const [day, time] = new Date(atMs).toISOString().split('T') as [string, string];
    const [year, month, date] = day.split('-') as [string, string, string];
    return { day: dayText(month, date), year, time: time.slice(0, 5), zone: 'UTC' };
  }
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
  // oxlint-disable-next-line no-restricted-globals -- no replay loads this file
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, ...numeric, ...clock }).formatToParts(atMs);
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)?.value ?? '';
  return {
    day: dayText(part('month'), part('day')),
    year: part('year'),
    time: `${part('hour')}:${part('minute')}`,
    zone: part('timeZoneName'),
  };
}

function dayText(month: string, day: string): string {
  return `${Number(day)} ${months[Number(month) - 1]}`;
}
