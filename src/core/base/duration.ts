const hourMs = 3_600_000;
const units = [
  ['d', 24 * hourMs],
  ['h', hourMs],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/**
 * Formats milliseconds for people: `5m`, `1h30m`, `1.5s`, `0s`, `90d`. Days are used from two days on; one day is
 * `24h`. With a single unit, `parseDuration` can read the result.
 */
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

/** The time until an instant, rounded up to seconds; `passed` after it. */
export function formatTimeLeft(leftMs: number): string {
  return leftMs < 0 ? 'passed' : formatDuration(Math.ceil(leftMs / 1_000) * 1_000);
}
