import { formatDuration } from 'countersign/base';

/** Such as `< 0.1s`, `0.4s`, `2m5s`, `3h20m`. */
export function medianText(ms: number): string {
  if (ms > 0 && ms < 50) return '< 0.1s';
  if (ms < 60_000) return formatDuration(Math.round(ms / 100) * 100);
  if (ms < 3_600_000) return formatDuration(Math.round(ms / 1_000) * 1_000);
  return formatDuration(Math.round(ms / 60_000) * 60_000);
}
