/** What a call would change, as lines of a difference or as a table. */
import { structuredPatch } from 'diff';
import type { Change } from '../base/call-preview.ts';
import type { Json } from '../base/tool-call.ts';
import { visibleText } from '../base/visible-text.ts';
import type { CardChange, DiffLine } from './card.ts';
import { type CardBounds, counted, cutLine } from './cut-text.ts';
import { jsonText } from './json-text.ts';
import { tableTotals } from './table-totals.ts';

/** Two texts that differ in more lines are shown as one removed and one added. */
const mostEdits = 1_000;
const longestName = 300;
const longestCell = 200;

export function cardChange(change: Change, bounds: CardBounds): CardChange {
  return change.kind === 'text' ? textChange(change, bounds) : tableChange(change, bounds);
}

function textChange({ name, before, after }: Change & { kind: 'text' }, bounds: CardBounds): CardChange {
  const lines = diffLines(before ?? '', after ?? '');
  const shown = lines.length <= bounds.diffLines ? lines : lines.slice(0, bounds.diffLines);
  const what = before === null ? 'is new' : after === null ? 'is removed' : before === after ? 'stays' : 'changes';
  return {
    kind: 'text',
    name: cutLine(name, longestName).text,
    what,
    lines: shown.map(({ kind, text }): DiffLine => ({ kind, text: cutVisible(text, bounds) })),
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
    hiddenLines: lines.length - shown.length,
  };
}

function cutVisible(text: string, { value }: CardBounds) {
  const tabs = text.split('\t');
  if (tabs.length === 1) return cutLine(text, value);
  const shown = visibleText(text, { lines: true });
  return shown.length <= value ? { text: shown } : cutLine(text, value);
}

const kinds = { '+': 'added', '-': 'removed', ' ': 'same', '\\': 'place' } as const;

function diffLines(before: string, after: string): { kind: DiffLine['kind']; text: string }[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: mostEdits });
  if (patch === undefined) {
    const whole = (kind: 'added' | 'removed', text: string) => text.split('\n').map((line) => ({ kind, text: line }));
    return [...whole('removed', before), ...whole('added', after)];
  }
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    { kind: 'place' as const, text: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@` },
    ...lines.map((line) => ({ kind: kinds[line[0] as keyof typeof kinds], text: line.slice(1) })),
  ]);
}

function tableChange({ name, columns, rows }: Change & { kind: 'table' }, bounds: CardBounds): CardChange {
  const shown = rows.slice(0, bounds.rows);
  const width = Math.max(
    columns.length,
    ...shown.map(({ before, after }) => Math.max(before?.length ?? 0, after?.length ?? 0)),
  );
  const indexes = Array.from({ length: width }, (_, index) => index);
  return {
    kind: 'table',
    name: cutLine(name, longestName).text,
    columns: indexes.map((index) => cellText(columns[index]) ?? ''),
    rows: shown.map(({ before, after }) => {
      const cells = indexes.map((index) => ({ before: cellText(before?.[index]), after: cellText(after?.[index]) }));
      const isSame = cells.every((cell) => cell.before === cell.after);
      const kind = before === null ? 'added' : after === null ? 'removed' : isSame ? 'same' : 'changed';
      return { kind, cells };
    }),
    hiddenRows: rows.length - shown.length,
    totals: tableTotals(columns, rows),
  };
}

function cellText(value: Json | undefined): string | null {
  if (value === undefined) return null;
  const { text, hidden, end } = cutLine(typeof value === 'string' ? value : jsonText(value), longestCell);
  return hidden === undefined ? text : `${text}[${counted(hidden, 'character')} hidden]${end}`;
}
