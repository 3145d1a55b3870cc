import type { z } from 'zod';
import { unknownName } from '../text/check-call-options.ts';
import { notYetSupported, policyShape } from './shape.ts';

/** A problem at one place of a policy document; `part: 'key'` if it is about the key, not its value. */
export interface ShapeProblem {
  path: readonly PropertyKey[];
  message: string;
  part?: 'key';
}

/** The most unknown keys that are explained, because each is compared with all known keys. */
const mostKeys = 100;

/** Words for the kinds of values that zod names. */
export const kinds: Record<string, string> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
};

/** Converts an issue of zod to problems: one for each unknown key, else one. */
export function explainShape(issue: z.core.$ZodIssue, document: unknown): ShapeProblem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, mostKeys)
      .map((key) => ({ path: [...path, key], message: unknownKey(key, path), part: 'key' }));
  }
  const given = documentValueAt(document, path);
  const name = placeName(path, 'a policy');
  if (issue.code === 'invalid_key') {
    return [{ path, message: `the name ${name} ${issue.issues[0]?.message ?? 'is not allowed'}`, part: 'key' }];
  }
  // A missing key has no place in the text: the map that lacks it has.
  if (given === undefined && path.length > 0) return [{ path: path.slice(0, -1), message: `${name} is missing` }];
  if (issue.code === 'invalid_union') return explainUnion(issue, given, document);
  // A sentence of `policyShape` itself is more exact: then skip this one.
  if (
    issue.code === 'invalid_type' &&
    issue.message.startsWith('Invalid input') &&
    kinds[issue.expected] !== undefined
  ) {
    return [{ path, message: `${name} must be ${kinds[issue.expected]}, not ${show(given)}` }];
  }
  if (issue.code === 'invalid_value') {
    const choice = issue.values.length > 1 ? 'one of ' : '';
    return [{ path, message: `${name} must be ${choice}${issue.values.join(', ')}, not ${show(given)}` }];
  }
  return [{ path, message: `${name} ${issue.message}` }];
}

/** The problems of `given`, which fits no branch of a union: those of the branch for its kind of value; else one. */
function explainUnion(issue: z.core.$ZodIssueInvalidUnion, given: unknown, document: unknown): ShapeProblem[] {
  const { path, errors, message } = issue;
  const closest = errors.find(([first]) => !(first?.code === 'invalid_type' && first.path.length === 0));
  if (closest !== undefined) {
    return closest.flatMap((each) => explainShape({ ...each, path: [...path, ...each.path] }, document));
  }
  // Both unions without a sentence of their own, in `examples` and `reviewer_keys`, are of a map and a text.
  const expected = message.startsWith('Invalid input') ? 'must be a map or a text' : message;
  return [{ path, message: `${placeName(path, 'a policy')} ${expected}, not ${show(given)}` }];
}

/** The value at a path, by own properties only; undefined if there is none. */
export function documentValueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  let value = document;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function unknownKey(key: string, path: readonly PropertyKey[]): string {
  if (path.length === 0 && key === 'channels') {
    return "'channels' is no member of a policy: a worker names its channels (docs/channels.md)";
  }
  if (notYetSupported[path.join('.')]?.includes(key)) return `'${key}' is not supported by this version`;
  return `unknown key '${key.slice(0, 60)}'; known here are ${knownKeys(path).join(', ')}`;
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  const found = shapeAt(policyShape, path);
  return [found, ...(found.def.options ?? [])].flatMap((each) => Object.keys(each.shape ?? {}));
}

/** The parts of zod's schemas that are used here. */
interface Shape {
  shape?: Record<string, Shape>;
  def: { innerType?: Shape; in?: Shape; element?: Shape; valueType?: Shape; options?: Shape[] };
}

/** The schema at a path of a document. For a key that a schema does not know, it is that schema itself. */
export function shapeAt(root: z.ZodType, path: readonly PropertyKey[]): Shape {
  let shape = root as unknown as Shape;
  for (const key of path) {
    const inner = unwrapped(shape);
    shape = inner.shape?.[String(key)] ?? inner.def.element ?? inner.def.valueType ?? inner;
  }
  return unwrapped(shape);
}

/** The schema inside of `optional`, `default` and `transform`. */
function unwrapped(shape: Shape): Shape {
  let inner = shape;
  for (let next: Shape | undefined = inner; next !== undefined; next = inner.def.innerType ?? inner.def.in)
    inner = next;
  return inner;
}

/** The quoted name of the last key; for an item, that of its list, as in `'rules' item 3`; `what` for the document. */
function placeName(path: readonly PropertyKey[], what: string): string {
  const last = path.at(-1);
  if (last === undefined) return what;
  const index = typeof last === 'number' ? ` item ${last + 1}` : '';
  return `'${String(index === '' ? last : path.at(-2)).slice(0, 60)}'${index}`;
}

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (value === null) return 'empty';
  if (typeof value === 'string') return `'${value.slice(0, 60)}'`;
  return typeof value === 'number' || typeof value === 'boolean' ? `${value}` : `a ${typeof value}`;
}

/** The document to explain, its shape, and its name, such as `an identity file`. */
export interface Explained {
  document: unknown;
  shape: z.ZodType;
  what: string;
}

/** Returns the problems of a document, one sentence each. They repeat no value, because it may be a secret. */
export function explainWithoutValues(error: z.ZodError, { document, shape, what }: Explained): ShapeProblem[] {
  return error.issues.flatMap((issue): ShapeProblem[] => {
    const { path } = issue;
    const name = placeName(path, what);
    if (issue.code === 'unrecognized_keys') {
      const known = Object.keys(shapeAt(shape, path).shape ?? {});
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
    // A sentence of the shape itself is more specific: use it if there is one.
    const isOwn = !issue.message.startsWith('Invalid input');
    if (path.length > 0 && documentValueAt(document, path) === undefined) {
      const remedy = isOwn ? `: it ${issue.message}` : '';
      return [{ path: path.slice(0, -1), message: `${name} is missing${remedy}` }];
    }
    if (issue.code === 'invalid_type' && !isOwn)
      return [{ path, message: `${name} must be ${kinds[issue.expected] ?? issue.expected}` }];
    if (issue.code === 'invalid_value') return [{ path, message: `${name} must be one of ${issue.values.join(', ')}` }];
    return [{ path, message: `${name} ${isOwn ? issue.message : 'is not allowed'}` }];
  });
}

/** The problems of inner keys named `__proto__`, which zod's maps drop silently. At the top, zod refuses the key. */
export function prototypeKeys(value: unknown, path: readonly PropertyKey[] = []): ShapeProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key): ShapeProblem[] => {
    const place = [...path, Array.isArray(value) ? Number(key) : key];
    if (key === '__proto__' && path.length > 0)
      return [{ path: place, message: `'__proto__' cannot be a name`, part: 'key' }];
    return prototypeKeys((value as Record<string, unknown>)[key], place);
  });
}

export function belongsInCeiling(path: readonly PropertyKey[]): ShapeProblem {
  const message = `'${String(path.at(-1))}' belongs in the ceiling, the policy given to createWorker`;
  return { path, message, part: 'key' };
}
