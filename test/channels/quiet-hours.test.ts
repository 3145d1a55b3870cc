import { describe, expect, test } from 'vitest';
import { quietForMs } from '../../src/channels/quiet-hours.ts';

const night = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
const ends = (hours: typeof night, at: string): string =>
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

  test('an urgent request does not wait', () => {
    const atMs = Date.parse('2026-01-14T22:30:00Z');
    expect(quietForMs(night, { severity: 'critical', endsAtMs: null }, atMs)).toBe(0);
    expect(quietForMs({ ...night, above: 'medium' }, { severity: 'high', endsAtMs: null }, atMs)).toBe(0);
  });
});
