import type { z } from 'zod';
import { unknownName } from '../text/unknown-name.ts';
import { kinds, type ShapeProblem } from './explain-shape.ts';

/** What is explained: a document, its shape, and what to call it, such as `an identity file`. */
export interface Explained {
  document: unknown;
  shape: z.ZodType;
  what: string;
}

/** The problems of a document that its shape refused, one sentence each. Repeats no value: it may be a secret. */
export function explainWithoutValues(error: z.ZodError, { document, shape, what }: Explained): ShapeProblem[] {
  return error.issues.flatMap((issue): ShapeProblem[] => {
    const { path } = issue;
    const name = nameOf(path, what);
    if (issue.code === 'unrecognized_keys') {
      const known = knownKeys(shape, path);
      const listed = `known here are ${known.join(', ')}`;
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: unknownName('key', key, known, listed),
        part: 'key',
      }));
    }
    if (issue.code === 'invalid_key') {
      return [{ path, message: `the name ${name} ${issue.issues[0]?.message ?? 'is not allowed'}`, part: 'key' }];
    }
    // A sentence of the shape itself says more.
    const isOwn = !issue.message.startsWith('Invalid input');
    if (path.length > 0 && isMissing(document, path)) {
      const remedy = isOwn ? `: it ${issue.message}` : '';
      return [{ path: path.slice(0, -1), message: `${name} is missing${remedy}` }];
    }
    if (issue.code === 'invalid_type' && !isOwn)
      return [{ path, message: `${name} must be ${kinds[issue.expected] ?? issue.expected}` }];
    if (issue.code === 'invalid_value') return [{ path, message: `${name} must be one of ${issue.values.join(', ')}` }];
    return [{ path, message: `${name} ${isOwn ? issue.message : 'is not allowed'}` }];
  });
}

function isMissing(document: unknown, path: readonly PropertyKey[]): boolean {
  let value = document;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return true;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return false;
}

function nameOf(path: readonly PropertyKey[], what: string): string {
  const last = path.at(-1);
  if (last === undefined) return what;
  return typeof last === 'number' ? `'${String(path.at(-2))}' item ${last + 1}` : `'${String(last).slice(0, 60)}'`;
}

/** The parts of zod's schemas that are used here. */
interface Shape {
  shape?: Record<string, Shape>;
  def: { innerType?: Shape; in?: Shape; element?: Shape; valueType?: Shape };
}

function knownKeys(shape: z.ZodType, path: readonly PropertyKey[]): string[] {
  let found = shape as unknown as Shape;
  for (const key of path) {
    const inner = unwrapped(found);
    found = inner.shape?.[String(key)] ?? inner.def.element ?? inner.def.valueType ?? inner;
  }
  return Object.keys(unwrapped(found).shape ?? {});
}

/** Without `optional`, `default` and `transform`. */
function unwrapped(shape: Shape): Shape {
  let inner = shape;
  for (let next: Shape | undefined = inner; next !== undefined; next = inner.def.innerType ?? inner.def.in)
    inner = next;
  return inner;
}
