import { medianText } from '../state/texts.ts';
import type { RuleStatistics } from 'countersign/audit';

interface Share {
  count: number;
  of: number;
}

/** A table cell with a share as percentage and as bar. `isWarning`: the share is so large that it needs attention. */
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

export function MedianCell({ ms }: { ms: number | null }) {
  return <td class="figure">{ms === null ? '–' : medianText(ms)}</td>;
}

/** Warns that answers were often too quick, with the first share that shows it. Empty if none of `shares` does. */
export function QuickNote({ shares }: { shares: readonly Share[] }) {
  const quick = shares.find(isHasty);
  if (quick === undefined) return null;
  return (
    <p class="warn">
      Often quick ({quick.count} of {quick.of} under 3 s)
    </p>
  );
}

/** True if at least half of five or more answers were so quick that the reviewer hardly read the request. */
export function isHasty({ count, of }: Share): boolean {
  return of >= 5 && count * 2 >= of;
}

export const ruleFigureHeads = 'Allowed, Denied by rule, Asked, Approved, Denied by people, Median, Under 3 s, Expired';

/** The cells of a rule under `ruleFigureHeads`; one cell across all eight columns if the rule decided no call. */
export function RuleFigures({ figures }: { figures: RuleStatistics | undefined }) {
  if (figures === undefined) {
    return (
      <td colSpan={8} class="soft">
        decided no call
      </td>
    );
  }
  const { allowed, deniedByPolicy, asked, open, denied, approvalRate, medianMs, underThreeSeconds, expiredShare } =
    figures;
  return (
    <>
      <td class="figure">{allowed}</td>
      <td class="figure">{deniedByPolicy}</td>
      <td class="figure">
        {asked}
        {open > 0 && <span class="soft"> ({open} open)</span>}
      </td>
      <ShareCell share={approvalRate} />
      <td class="figure">{denied}</td>
      <MedianCell ms={medianMs} />
      <ShareCell share={underThreeSeconds} isWarning={isHasty(underThreeSeconds)} />
      <ShareCell share={expiredShare} isWarning={isHasty(expiredShare)} />
    </>
  );
}
