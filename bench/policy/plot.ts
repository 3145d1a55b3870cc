/** Draws times on a logarithmic scale, as SVG. */
import type { Times } from './measure.ts';

const width = 960;
const left = 230;
const right = 110;
const rowHeight = 22;
const groupHeight = 46;
const decades = [0.1, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

interface Options {
  /** `measure`: the row that the budget is a multiple of. `own`: the row that the budget applies to. */
  measure: string;
  own: string;
  budget: number;
}

export function drawTimes(works: readonly { work: string; times: Map<string, Times> }[], options: Options): string {
  const drawn: string[] = [];
  let y = 64;
  for (const { work, times } of works) {
    y += groupHeight;
    drawn.push(label(16, y - 12, work, 'font-weight="bold"'));
    const limit = x(times.get(options.measure)!.p99 * options.budget);
    const bottom = y + times.size * rowHeight;
    drawn.push(`<line x1="${limit}" x2="${limit}" y1="${y}" y2="${bottom}" stroke="#b42318" stroke-dasharray="4 3"/>`);
    for (const [name, row] of times) {
      drawn.push(...drawRow(name, row, y, name === options.own ? '#1f6feb' : '#8a8f98'));
      y += rowHeight;
    }
  }
  const height = y + 44;
  const axis = decades.flatMap((value) => [
    `<line x1="${x(value)}" x2="${x(value)}" y1="84" y2="${y}" stroke="#e3e5e8"/>`,
    label(x(value), 78, short(value), 'text-anchor="middle" fill="#555"'),
  ]);
  const legend = `Bar: least to 99 of 100. White tick: median. Line: to the slowest. Numbers: median · p99. Red: ${options.budget} times the p99 of ${options.measure}.`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    label(16, 30, 'Time of one ruling, logarithmic', 'font-size="17" font-weight="bold"'),
    label(16, 52, legend, 'fill="#555"'),
    ...axis,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function drawRow(name: string, { least, median, p99, most }: Times, y: number, applyMode: string): string[] {
  const middle = y + rowHeight / 2;
  return [
    label(left - 12, middle + 4, name, 'text-anchor="end"'),
    `<line x1="${x(p99)}" x2="${x(most)}" y1="${middle}" y2="${middle}" stroke="${applyMode}"/>`,
    `<rect x="${x(least)}" y="${y + 4}" width="${Math.max(2, x(p99) - x(least))}" height="${rowHeight - 8}" rx="2" fill="${applyMode}"/>`,
    `<rect x="${x(median) - 1}" y="${y + 4}" width="2" height="${rowHeight - 8}" fill="#fff"/>`,
    label(x(most) + 6, middle + 4, `${short(median)} · ${short(p99)}`, 'fill="#555" font-size="11"'),
  ];
}

function x(microseconds: number): number {
  const [from, to] = [Math.log10(decades[0]!), Math.log10(decades.at(-1)!)];
  const part = (Math.log10(Math.max(microseconds, decades[0]!)) - from) / (to - from);
  return Math.round(left + part * (width - left - right));
}

function label(at: number, y: number, text: string, attributes: string): string {
  return `<text x="${at}" y="${y}" ${attributes}>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}

function short(microseconds: number): string {
  const unit = ['µs', 'ms', 's'].findIndex((_, index) => microseconds < 1_000 ** (index + 1));
  return `${Number((microseconds / 1_000 ** unit).toPrecision(2))} ${['µs', 'ms', 's'][unit]}`;
}
