/** Lays out the arguments of a call: nested values become groups, and lists of flat objects become tables. */
import { type CardField, isCut } from './card.ts';

/** A column of a table: a member of the objects in a list. */
export interface ArgumentColumn {
  name: string;
  title?: string;
  description?: string;
}

/** A part of the layout of a call's arguments. `name` is one part of the fields' path, such as `items` or `[0]`. */
export type ArgumentBlock =
  | { kind: 'field'; name: string; field: CardField }
  | { kind: 'group'; name: string; blocks: ArgumentBlock[] }
  | { kind: 'list'; name: string; fields: CardField[] }
  | {
      kind: 'table';
      name: string;
      columns: ArgumentColumn[];
      /** `index` is the row's place in the list, such as `[0]`. A cell is undefined if the object lacks the member. */
      rows: { index: string; cells: (CardField | undefined)[] }[];
    };

/** A list with more columns, or with longer texts, becomes a group and not a table. */
const [mostColumns, longestCell] = [8, 80];

/** Lays out the fields of a card. Each field is in exactly one block, in the order of the fields. */
export function argumentBlocks(fields: readonly CardField[]): ArgumentBlock[] {
  return blocksAt(fields, 0);
}

/** Lays out fields inside `depth` groups. Consecutive fields with the same next part of the path form a group. */
function blocksAt(fields: readonly CardField[], depth: number): ArgumentBlock[] {
  const blocks: ArgumentBlock[] = [];
  for (let from = 0; from < fields.length;) {
    const field = fields[from]!;
    const name = pathOf(field)[depth]!;
    const end = endOfGroup(fields, from, name, depth);
    if (end === from) blocks.push({ kind: 'field', name, field });
    else blocks.push(groupOf(fields.slice(from, end), name, depth + 1));
    from = Math.max(end, from + 1); // at least past this field, which may be in no group
  }
  return blocks;
}

/** Returns the index of the first field, from `from` on, that is not in the group `name`. */
function endOfGroup(fields: readonly CardField[], from: number, name: string, depth: number): number {
  let end = from;
  while (end < fields.length && isInGroup(fields[end]!, name, depth)) end += 1;
  return end;
}

function isInGroup(field: CardField, name: string, depth: number): boolean {
  const path = pathOf(field);
  return path[depth] === name && path.length > depth + 1;
}

function pathOf({ name, path }: CardField): readonly string[] {
  return path ?? [name];
}

/** True for the index of an element, such as `[0]`. A member with such a name would be in quotes. */
function isIndex(part: string | undefined): boolean {
  return part !== undefined && /^\[\d+\]$/.test(part);
}

/** Lays out the members of a value: a list of short values, a table of flat objects, or a group of anything else. */
function groupOf(fields: readonly CardField[], name: string, depth: number): ArgumentBlock {
  const isList = fields.every((field) => isIndex(pathOf(field)[depth]));
  // `levels`: how many parts of each field's path follow those of the groups around it.
  const areShort = (levels: number): boolean =>
    fields.every((field) => pathOf(field).length === depth + levels && isShort(field));
  if (isList && areShort(1)) return { kind: 'list', name, fields: [...fields] };
  const table = isList && areShort(2) ? tableOf(fields, name, depth) : undefined;
  return table ?? { kind: 'group', name, blocks: blocksAt(fields, depth) };
}

function isShort({ value }: CardField): boolean {
  return !isCut(value) && value.text.length <= longestCell && !value.text.includes('\n');
}

/** Builds a table from the fields of a list. Undefined for one row, too many columns, or if a value would get lost. */
function tableOf(fields: readonly CardField[], name: string, depth: number): ArgumentBlock | undefined {
  const columns = new Map<string, ArgumentColumn>();
  const rows = new Map<string, Map<string, CardField>>();
  for (const field of fields) {
    const [index, column] = [pathOf(field)[depth]!, pathOf(field)[depth + 1]!];
    const { title, description } = field;
    const texts = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
    if (!columns.has(column)) columns.set(column, { name: column, ...texts });
    const row = rows.get(index) ?? new Map<string, CardField>();
    rows.set(index, row.set(column, field));
  }
  const cells = [...rows.values()].reduce((sum, row) => sum + row.size, 0);
  // Two keys of an object can get the same name when they are cut. Then a row would lose one of their values.
  if (rows.size < 2 || columns.size > mostColumns || cells !== fields.length) return undefined;
  return {
    kind: 'table',
    name,
    columns: [...columns.values()],
    rows: [...rows].map(([index, row]) => ({ index, cells: [...columns.keys()].map((column) => row.get(column)) })),
  };
}
