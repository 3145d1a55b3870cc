import { severities, type Severity } from '../core/base/tool-call.ts';
import { isTimeZone } from '../text/instant-text.ts';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** A day of the week. */
export type Weekday = (typeof weekdays)[number];

/** When people get notifications only of urgent requests: at least one of `from` with `to`, `workdays`, `holidays`. */
export interface QuietHours {
  /** A time of day, such as `22:00`. */
  from?: string;
  /** A time of day. It is before `from` if the quiet hours go past midnight. */
  to?: string;
  /** The time zone of the hours and days, such as `Europe/Berlin`. */
  timeZone: string;
  /** The days on which only `from` to `to` is quiet. Other days are quiet as a whole. Default: all days. */
  workdays?: readonly Weekday[];
  /** Dates that are quiet as a whole, such as `2026-12-25`. At most 400. */
  holidays?: readonly string[];
  /** People are notified at any time of requests with a higher severity. Default: `high`, so only of critical ones. */
  above?: Severity;
}

const minuteMs = 60_000;
const minutesOfDay = 1_440;
const mostHolidays = 400;

/** Returns how long a notification waits for the end of quiet hours, in milliseconds; 0 if severe or due sooner. */
export function quietForMs(
  hours: QuietHours,
  { severity, endsAtMs }: { severity: Severity; endsAtMs: number | null },
  atMs: number,
): number {
  const { above = 'high' } = hours;
  if (severities.indexOf(severity) > severities.indexOf(above)) return 0;
  const localTimeAt = clockOf(hours.timeZone);
  const minutesLeft = quietMinutesLeft(hours);
  let untilMs = atMs;
  for (;;) {
    const now = localTimeAt(untilMs);
    const quietMinutes = minutesLeft(now);
    if (quietMinutes === 0) return untilMs - atMs;
    const minuteBeganMs = untilMs - (untilMs % minuteMs);
    const quietEndMs = minuteBeganMs + quietMinutes * minuteMs;
    // If the clocks change before the end of the quiet minutes, go on minute by minute.
    const isSteady = localTimeAt(quietEndMs).minute === (now.minute + quietMinutes) % minutesOfDay;
    untilMs = isSteady ? quietEndMs : minuteBeganMs + minuteMs;
    if (endsAtMs !== null && endsAtMs <= untilMs) return 0;
  }
}

/** Returns a function that counts the quiet minutes from a local time on, as if the clocks did not change. */
function quietMinutesLeft({ from, to, workdays = weekdays, holidays = [] }: QuietHours): (at: LocalTime) => number {
  const [start, end] = from === undefined || to === undefined ? [0, 0] : [minuteOf(from), minuteOf(to)];
  return ({ date, weekday, minute }) => {
    const isDayOff = holidays.includes(date) || !workdays.some((day) => day === weekday);
    if (isDayOff) return minutesOfDay - minute;
    // If the hours go past midnight, the time is quiet after the start or before the end.
    const isQuiet = start <= end ? minute >= start && minute < end : minute >= start || minute < end;
    return isQuiet ? (end - minute + minutesOfDay) % minutesOfDay : 0;
  };
}

function minuteOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}

interface LocalTime {
  date: string;
  weekday: string;
  /** The minute of the day, from 0. */
  minute: number;
}

/** Returns a function that converts an instant to the local date, weekday and minute of the day. */
function clockOf(timeZone: string): (atMs: number) => LocalTime {
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', ...digits, hourCycle: 'h23' });
  return (atMs) => {
    const parts = new Map(clock.formatToParts(atMs).map(({ type, value }) => [type, value]));
    const [year, month, day] = [parts.get('year'), parts.get('month'), parts.get('day')];
    const minute = minuteOf(`${parts.get('hour')}:${parts.get('minute')}`);
    return { date: `${year}-${month}-${day}`, weekday: parts.get('weekday')!.toLowerCase(), minute };
  };
}

/** Validates quiet hours. Returns the problem and the member that has it; undefined if the hours are valid. */
export function quietHoursProblem(hours: QuietHours): { member?: keyof QuietHours; problem: string } | undefined {
  const { from, to, timeZone, workdays, holidays = [], above } = hours;
  for (const [member, clock] of Object.entries({ from, to }) as ['from' | 'to', unknown][]) {
    if (clock !== undefined && !isClock(clock)) return { member, problem: 'must be a time of day, such as "22:00"' };
  }
  if ((from === undefined) !== (to === undefined)) return { problem: "'from' and 'to' go together" };
  if (from !== undefined && from === to) return { problem: 'must not begin and end at the same time' };
  if (typeof timeZone !== 'string' || !isTimeZone(timeZone)) {
    return { member: 'timeZone', problem: 'must be a time zone that exists, such as Europe/Berlin' };
  }
  const isDays = workdays === undefined || (Array.isArray(workdays) && workdays.every((day) => weekdays.includes(day)));
  if (!isDays || workdays?.length === 0) {
    return { member: 'workdays', problem: `must be a list of at least one of ${weekdays.join(', ')}` };
  }
  if (!Array.isArray(holidays) || holidays.length > mostHolidays || !holidays.every(isDate)) {
    return { member: 'holidays', problem: `must be a list of at most ${mostHolidays} dates, such as 2026-12-25` };
  }
  if (above !== undefined && !severities.includes(above)) {
    return { member: 'above', problem: `must be one of ${severities.join(', ')}` };
  }
  if (from === undefined && workdays === undefined && holidays.length === 0) {
    return { problem: "needs 'from' and 'to', 'workdays' or 'holidays'" };
  }
  return undefined;
}

function isClock(clock: unknown): boolean {
  return typeof clock === 'string' && /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(clock);
}

function isDate(date: unknown): boolean {
  if (typeof date !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(date)) return false;
  const atMs = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(date);
}
