import type { z } from 'zod';
import { identityShape } from './identity-shape.ts';

/** A problem at one place of an identity file; `part: 'key'` if it is about the key, not its value. */
interface IdentityProblem {
  path: readonly PropertyKey[];
  message: string;
  part?: 'key';
}

const kinds: Record<string, string> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
};

/** The problems of a document that `identityShape` refused, one sentence each. Repeats no value: it may be a secret. */
export function identityProblems(error: z.ZodError, document: unknown): IdentityProblem[] {
  return error.issues.flatMap((issue): IdentityProblem[] => {
    const { path } = issue;
    const name = nameOf(path);
    if (issue.code === 'unrecognized_keys') {
      const known = knownKeys(path).join(', ');
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: `unknown key '${key.slice(0, 60)}'; known here are ${known}`,
        part: 'key',
      }));
    }
    if (path.length > 0 && isMissing(document, path))
      return [{ path: path.slice(0, -1), message: `${name} is missing` }];
    if (issue.code === 'invalid_type')
      return [{ path, message: `${name} must be ${kinds[issue.expected] ?? issue.expected}` }];
    if (issue.code === 'invalid_value') return [{ path, message: `${name} must be one of ${issue.values.join(', ')}` }];
    return [{ path, message: `${name} ${issue.message}` }];
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

function nameOf(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'an identity file';
  return typeof last === 'number' ? `'${String(path.at(-2))}' item ${last + 1}` : `'${String(last)}'`;
}

interface Shape {
  shape?: Record<string, Shape>;
  def: { innerType?: Shape; element?: Shape };
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  let shape = identityShape as unknown as Shape;
  for (const key of path) {
    const inner = unwrapped(shape);
    shape = inner.shape?.[String(key)] ?? inner.def.element ?? inner;
  }
  return Object.keys(unwrapped(shape).shape ?? {});
}

function unwrapped(shape: Shape): Shape {
  let inner = shape;
  while (inner.def.innerType !== undefined) inner = inner.def.innerType;
  return inner;
}
