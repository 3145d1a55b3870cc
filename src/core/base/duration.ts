const hourMs = 3_600_000;
const units = [
  ['d', 24 * hourMs],
  ['h', hourMs],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A duration for people: `5m`, `1h30m`, `1.5s`, `0s` up to 0; from 48h on, in days. `parseDuration` reads one unit. */
export function formatDuration(durationMs: number): string {
  let restMs = Math.max(0, durationMs);
  let text = '';
  for (const [unit, unitMs] of restMs < 48 * hourMs ? units.slice(1) : units) {
    const count = unit === 's' ? restMs / unitMs : Math.floor(restMs / unitMs);
    if (count > 0) text += `${count}${unit}`;
    restMs -= count * unitMs;
  }
  return text === '' ? '0s' : text;
}

const unitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
export const durationSentence = 'must be a whole number and a unit, such as 30s, 5m, 1h or 1d, or never';
const longestMs = 3_650 * 86_400_000;

/** Milliseconds of `500ms`, `30s`, `5m`, `1h` or `1d`, up to 3,650 days; null for `never`. A problem for 0, too. */
export function parseDuration(text: string): { durationMs: number | null } | { problem: string } {
  if (text === 'never') return { durationMs: null };
  const [, count, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return { problem: durationSentence };
  const durationMs = Number(count) * unitsMs[unit]!;
  if (durationMs === 0) return { problem: 'must be longer than 0' };
  return durationMs > longestMs ? { problem: 'must be at most 3650d' } : { durationMs };
}
