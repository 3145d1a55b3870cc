import { medianText } from './median-text.ts';

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

/** True if at least half of some answers were too quick to have been read. */
export function isHasty({ count, of }: Share): boolean {
  return of >= 5 && count * 2 >= of;
}
