import type { RuleStatistics } from 'countersign/audit';
import { isHasty, MedianCell, ShareCell } from './figures.tsx';

/** The heads of the cells of `RuleFigures`. */
export function RuleFigureHeads() {
  return (
    <>
      <th scope="col">Allowed</th>
      <th scope="col">Denied</th>
      <th scope="col">Asked</th>
      <th scope="col">Approved</th>
      <th scope="col">Median</th>
      <th scope="col">Under 3 s</th>
      <th scope="col">Expired</th>
    </>
  );
}

/** What a rule did; undefined: nothing. */
export function RuleFigures({ figures }: { figures: RuleStatistics | undefined }) {
  if (figures === undefined) {
    return (
      <td colSpan={7} class="soft">
        decided no call
      </td>
    );
  }
  const { allowed, deniedByPolicy, asked, open, approvalRate, medianMs, underThreeSeconds, expiredShare } = figures;
  return (
    <>
      <td class="figure">{allowed}</td>
      <td class="figure">{deniedByPolicy}</td>
      <td class="figure">
        {asked}
        {open > 0 && <span class="soft"> ({open} open)</span>}
      </td>
      <ShareCell share={approvalRate} />
      <MedianCell ms={medianMs} />
      <ShareCell share={underThreeSeconds} isWarning={isHasty(underThreeSeconds)} />
      <ShareCell share={expiredShare} isWarning={isHasty(expiredShare)} />
    </>
  );
}
