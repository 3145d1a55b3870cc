import { describe, expect, test } from 'vitest';
import { channelSetOf } from '../../src/channels/channel-set.ts';
import { quietForMs, type QuietHours } from '../../src/channels/quiet-hours.ts';

const night = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
const ends = (hours: QuietHours, at: string): string =>
  new Date(Date.parse(at) + quietForMs(hours, { severity: 'medium', endsAtMs: null }, Date.parse(at))).toISOString();

describe('quiet hours end by the clocks of their time zone', () => {
  test.each([
    ['an ordinary night', night, '2026-01-14T22:30:30.500Z', '2026-01-15T06:00:00.000Z'],
    ['the clocks go forward', night, '2026-03-28T22:30:00Z', '2026-03-29T05:00:00.000Z'],
    ['the clocks go back', night, '2026-10-24T21:30:00Z', '2026-10-25T06:00:00.000Z'],
    ['their end is skipped', { ...night, to: '02:30' }, '2026-03-28T22:30:00Z', '2026-03-29T01:00:00.000Z'],
    ['their end comes twice', { ...night, to: '02:30' }, '2026-10-24T21:30:00Z', '2026-10-25T00:30:00.000Z'],
    ['half an hour', { ...night, timeZone: 'Australia/Lord_Howe' }, '2026-04-04T12:00:00Z', '2026-04-04T20:30:00.000Z'],
    ['the last minute', night, '2026-01-15T05:59:59.999Z', '2026-01-15T06:00:00.000Z'],
    [
      'all day but ten minutes',
      { ...night, from: '12:10', to: '12:00' },
      '2026-01-14T11:10:00Z',
      '2026-01-15T11:00:00.000Z',
    ],
    ['no quiet hours', night, '2026-01-15T12:00:00Z', '2026-01-15T12:00:00.000Z'],
  ])('%s', (_case, hours, at, end) => expect(ends(hours, at)).toBe(end));

  test.each([
    ['the default five minutes', '2026-01-14T22:35:00Z', 0],
    ['the very end of the hours', '2026-01-15T06:00:00Z', 0],
    ['a minute later', '2026-01-15T06:01:00Z', 7.5],
    ['never', null, 7.5],
  ])('a request that ends before they do does not wait: %s', (_case, ends, hours) => {
    const [atMs, endsAtMs] = [Date.parse('2026-01-14T22:30:00Z'), ends === null ? null : Date.parse(ends)];
    expect(quietForMs(night, { severity: 'medium', endsAtMs }, atMs)).toBe(hours * 3_600_000);
  });

  const work = { timeZone: 'Europe/Berlin', workdays: ['mon', 'tue', 'wed', 'thu', 'fri'] } as const;
  const mondays = Array.from({ length: 400 }, (_, week) =>
    new Date(Date.UTC(2026, 11, 28 + 7 * week)).toISOString().slice(0, 10),
  );
  const mondaysOff = { timeZone: 'Europe/Berlin', workdays: ['mon'] as const, holidays: mondays };
  const feast = { timeZone: 'Europe/Berlin', holidays: ['2026-12-25', '2026-12-26'] };
  test.each<[string, QuietHours, string, string]>([
    ['a Saturday', work, '2026-11-28T11:00:00Z', '2026-11-29T23:00:00.000Z'],
    ['a Friday', work, '2026-11-27T22:59:00Z', '2026-11-27T22:59:00.000Z'],
    ['the first minute of a Saturday there', work, '2026-11-27T23:00:00Z', '2026-11-29T23:00:00.000Z'],
    ['a weekend, then a night', { ...work, ...night }, '2026-11-28T11:00:00Z', '2026-11-30T06:00:00.000Z'],
    ['a night before a weekend', { ...work, ...night }, '2026-11-27T22:00:00Z', '2026-11-30T06:00:00.000Z'],
    ['a weekend in which the clocks go forward', work, '2026-03-28T11:00:00Z', '2026-03-29T22:00:00.000Z'],
    ['a weekend in which the clocks go back', work, '2026-10-24T11:00:00Z', '2026-10-25T23:00:00.000Z'],
    ['two holidays', feast, '2026-12-25T08:00:00Z', '2026-12-26T23:00:00.000Z'],
    [
      'an office that is open on Mondays, with 400 of them free',
      mondaysOff,
      '2026-12-24T08:00:00Z',
      '2034-08-27T22:00:00.000Z',
    ],
    ['holidays before a weekend', { ...work, ...feast }, '2026-12-25T08:00:00Z', '2026-12-27T23:00:00.000Z'],
    ['a day that is none', feast, '2026-12-24T08:00:00Z', '2026-12-24T08:00:00.000Z'],
    [
      'one day of work in a week',
      { timeZone: 'UTC', workdays: ['wed'] },
      '2026-11-26T00:00:00Z',
      '2026-12-02T00:00:00.000Z',
    ],
  ])('days that are quiet: %s', (_case, hours, at, end) => expect(ends(hours, at)).toBe(end));

  test('a request that ends in a quiet day does not wait', () => {
    const [atMs, endsAtMs] = [Date.parse('2026-11-28T11:00:00Z'), Date.parse('2026-11-29T22:59:00Z')];
    expect(quietForMs(work, { severity: 'medium', endsAtMs }, atMs)).toBe(0);
  });

  test('an urgent request does not wait', () => {
    const atMs = Date.parse('2026-01-14T22:30:00Z');
    expect(quietForMs(night, { severity: 'critical', endsAtMs: null }, atMs)).toBe(0);
    expect(quietForMs({ ...night, above: 'medium' }, { severity: 'high', endsAtMs: null }, atMs)).toBe(0);
  });
});

describe('hours of single channels', () => {
  const channels = {
    desk: { notify: () => undefined },
    pager: { notify: () => undefined },
    mail: { notify: () => undefined },
  };
  test('take the place of the hours of all', () => {
    const weekend = { timeZone: 'UTC', workdays: ['mon'] } as const;
    const set = channelSetOf({ channels, quietHours: night, quietHoursOf: { pager: false, mail: weekend } })!;
    expect(['desk', 'pager', 'mail'].map((name) => set.quietHoursOf(name))).toEqual([night, undefined, weekend]);
    expect(set.quietHoursOf('constructor')).toEqual(night);
  });

  test.each<[string, object, string]>([
    [
      'of a channel that is not there',
      { phone: false },
      `quietHoursOf names the channel 'phone', which does not exist`,
    ],
    [
      'with no day among its holidays',
      { desk: { timeZone: 'UTC', holidays: [] } },
      `quietHoursOf.desk needs 'from' and 'to', 'workdays' or 'holidays'`,
    ],
    [
      'without anything quiet',
      { desk: { timeZone: 'UTC' } },
      `quietHoursOf.desk needs 'from' and 'to', 'workdays' or 'holidays'`,
    ],
    [
      'with half a night',
      { desk: { timeZone: 'UTC', from: '22:00' } },
      `quietHoursOf.desk 'from' and 'to' go together`,
    ],
    [
      'without a day of work',
      { desk: { timeZone: 'UTC', workdays: [] } },
      'quietHoursOf.desk.workdays must be a list of at least one of mon, tue, wed, thu, fri, sat, sun',
    ],
    [
      'with a day that is none',
      { desk: { timeZone: 'UTC', workdays: ['Mon'] } },
      'quietHoursOf.desk.workdays must be a list of at least one of mon, tue, wed, thu, fri, sat, sun',
    ],
    [
      'with a date that is none',
      { desk: { timeZone: 'UTC', holidays: ['2026-02-30'] } },
      'quietHoursOf.desk.holidays must be a list of at most 400 dates, such as 2026-12-25',
    ],
    [
      'with too many dates',
      { desk: { timeZone: 'UTC', holidays: Array(401).fill('2026-12-25') } },
      'quietHoursOf.desk.holidays must be a list of at most 400 dates, such as 2026-12-25',
    ],
    [
      'with an unknown option',
      { desk: { timeZone: 'UTC', holiday: [] } },
      `quietHoursOf.desk: unknown option 'holiday': did you mean 'holidays'?`,
    ],
  ])('%s are refused', (_case, quietHoursOf, message) => {
    expect(() => channelSetOf({ channels, quietHoursOf: quietHoursOf as never })).toThrow(message);
  });
});
