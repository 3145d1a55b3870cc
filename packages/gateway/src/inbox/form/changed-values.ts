import type { Json } from 'countersign/base';
import { jsonPlace } from 'countersign/json';

/** A value that differs; absent on a side: it is not there. */
export interface ChangedValue {
  place: string;
  before?: Json;
  after?: Json;
}

/** The values that differ between two JSON values, opened as far as both sides have objects and arrays. */
export function changedValues(before: Json, after: Json, path: readonly PropertyKey[] = []): ChangedValue[] {
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => {
      const inner = [...path, Array.isArray(before) ? Number(key) : key];
      const [was, is] = [memberOf(before, key), memberOf(after, key)];
      if (was !== undefined && is !== undefined) return changedValues(was, is, inner);
      const place = jsonPlace('', inner).replace(/^\./, '');
      return [{ place, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }];
    });
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ place: jsonPlace('', path).replace(/^\./, ''), before, after }];
}

function isContainer(value: Json): value is Json[] | { [name: string]: Json } {
  return typeof value === 'object' && value !== null;
}

function memberOf(value: Json[] | { [name: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined;
}
