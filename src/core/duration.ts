const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Milliseconds as people write them: `5m`, `1h30m`, `1.5s`, `0s`. */
export function formatDuration(durationMs: number): string {
  let restMs = Math.max(0, durationMs);
  let text = '';
  for (const [unit, unitMs] of units) {
    const count = unit === 's' ? restMs / unitMs : Math.floor(restMs / unitMs);
    if (count > 0) text += `${count}${unit}`;
    restMs -= count * unitMs;
  }
  return text === '' ? '0s' : text;
}
