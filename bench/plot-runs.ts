/** Draws each measurement as a share of its budget, as SVG. */
import type { Verdict } from './verdicts.ts';

const width = 960;
const left = 470;
const right = 180;
const rowHeight = 26;
/** The axis ends at this share of a budget. */
const widest = 2;

export function drawRuns(verdicts: readonly Verdict[]): string {
  const top = 84;
  const bottom = top + verdicts.length * rowHeight;
  const axis = [0, 0.5, 1, 1.5, widest].flatMap((share) => [
    `<line x1="${x(share)}" x2="${x(share)}" y1="${top}" y2="${bottom}" stroke="${share === 1 ? '#b42318' : '#e3e5e8'}"/>`,
    label(x(share), top - 8, `${share * 100} %`, 'text-anchor="middle" fill="#555"'),
  ]);
  const height = bottom + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    label(16, 30, 'Runs: what was measured, as a share of its budget', 'font-size="17" font-weight="bold"'),
    label(
      16,
      52,
      'Red line: the budget. Blue: kept. Red: missed. Where the budget is zero, so is the bar.',
      'fill="#555"',
    ),
    ...axis,
    ...verdicts.flatMap((verdict, index) => drawRow(verdict, top + index * rowHeight)),
    '</svg>',
    '',
  ].join('\n');
}

function drawRow({ budget, what, measured, most, shown, limit, kept }: Verdict, y: number): string[] {
  const middle = y + rowHeight / 2 + 4;
  // For a missed budget of zero, or without a measurement, the bar has its maximum length.
  const share = kept ? measured / Math.max(most, 1e-9) : measured / most || widest;
  const applyMode = kept ? '#1f6feb' : '#b42318';
  const numbers = `${shown.split(' (')[0]}, ${limit}`;
  return [
    label(16, middle, budget, 'font-weight="bold"'),
    label(left - 12, middle, what, 'text-anchor="end"'),
    `<rect x="${left}" y="${y + 5}" width="${Math.max(2, x(Math.min(share, widest)) - left)}" height="${rowHeight - 10}" rx="2" fill="${applyMode}"/>`,
    label(width - right + 10, middle, numbers, 'fill="#555" font-size="11"'),
  ];
}

function x(share: number): number {
  return Math.round(left + (share / widest) * (width - left - right));
}

function label(at: number, y: number, text: string, attributes: string): string {
  return `<text x="${at}" y="${y}" ${attributes}>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}
