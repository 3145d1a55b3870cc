import { formatDuration } from '../../core/base/duration.ts';

interface Share {
  count: number;
  of: number;
}

/** A share as text with a small bar. `isWarning`: whether so much of it needs a look. */
export function ShareCell({ share: { count, of }, isWarning = false }: { share: Share; isWarning?: boolean }) {
  if (of === 0) return <td class="figure soft">–</td>;
  const percent = Math.round((count / of) * 100);
  return (
    <td class={isWarning ? 'figure warn' : 'figure'}>
      <span class="share" aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
      {percent} %{' '}
      <span class="soft">
        ({count} of {of})
      </span>
    </td>
  );
}

/** A median, in its largest units. */
export function MedianCell({ ms }: { ms: number | null }) {
  return <td class="figure">{ms === null ? '–' : medianText(ms)}</td>;
}

/** Such as `< 0.1s`, `0.4s`, `2m5s`, `3h20m`. */
export function medianText(ms: number): string {
  if (ms > 0 && ms < 50) return '< 0.1s';
  if (ms < 60_000) return formatDuration(Math.round(ms / 100) * 100);
  if (ms < 3_600_000) return formatDuration(Math.round(ms / 1_000) * 1_000);
  return formatDuration(Math.round(ms / 60_000) * 60_000);
}

/** True if at least half of some answers were too quick to have been read. */
export function isHasty({ count, of }: Share): boolean {
  return of >= 5 && count * 2 >= of;
}
