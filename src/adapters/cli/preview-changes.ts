import type { Change } from '../../core/base/call-preview.ts';
import type { Json } from '../../core/base/tool-call.ts';

/** True for the changes that a tool's `preview` may give. */
export function isChanges(value: Json): value is Change[] & Json {
  return Array.isArray(value) && value.every(isChange);
}

function isChange(value: Json): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { kind, name, before, after, columns, rows } = value;
  if (typeof name !== 'string') return false;
  if (kind === 'text') return [before, after].every((text) => text === null || typeof text === 'string');
  return kind === 'table' && isTexts(columns) && Array.isArray(rows) && rows.every(isRow);
}

function isTexts(value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isRow(value: Json): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return [value['before'], value['after']].every((cells) => cells === null || Array.isArray(cells));
}
