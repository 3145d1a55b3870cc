import type { Json } from '../base/tool-call.ts';

export type Path = readonly (string | number)[];

/** A text or a number within a JSON value. */
export interface Leaf {
  path: Path;
  value: string | number;
  /** The text that spans are of; of a number: its JSON. */
  text: string;
}

export function leavesOf(value: Json, path: Path = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => leavesOf(each, [...path, index]));
  if (typeof value === 'string') return [{ path, value, text: value }];
  if (typeof value === 'number') return [{ path, value, text: JSON.stringify(value) }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((name) => leavesOf(value[name]!, [...path, name]));
}

/** Own members only: a name may be `__proto__`. */
export function valueAt(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as { [name: string]: Json })[key];
  }
  return value;
}
