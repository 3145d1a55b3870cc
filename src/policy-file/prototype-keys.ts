import type { ShapeProblem } from './explain-shape.ts';

/** Finds `__proto__`, which zod's maps drop silently. */
export function prototypeKeys(value: unknown, path: readonly PropertyKey[] = []): ShapeProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key): ShapeProblem[] => {
    const place = [...path, Array.isArray(value) ? Number(key) : key];
    if (key === '__proto__' && path.length > 0)
      return [{ path: place, message: `'__proto__' cannot be a name`, part: 'key' }];
    return prototypeKeys((value as Record<string, unknown>)[key], place);
  });
}
