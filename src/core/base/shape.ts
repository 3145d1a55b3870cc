import { isObject } from './json.ts';
import { isUndecodable } from './undecodable.ts';

/**
 * What a value that another process has written must look like. A text: the value's type; `texts` are a list of
 * strings. A list with one shape: a list of such values. An object: an object with these members; it may have others.
 * `name?` may be absent, and `*` stands for every member.
 */
export type Shape =
  | 'string'
  | 'number'
  | 'texts'
  | readonly [Shape]
  | { readonly [member: string]: Shape }
  | ((value: unknown) => boolean);

/** The names of a type's members, as a shape writes them. Members whose type no code relies on may be left out. */
export type ShapeOf<Type> = {
  readonly [Name in keyof Type & string as object extends Pick<Type, Name> ? `${Name}?` : Name]?: Shape;
};

/** True if a value has this shape. */
export function fits(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'function') return shape(value);
  if (shape === 'texts') return fits(value, ['string']);
  if (typeof shape === 'string') return typeof value === shape;
  if (isList(shape)) return Array.isArray(value) && value.every((each) => fits(each, shape[0]));
  if (!isObject(value) || isUndecodable(value)) return false;
  return Object.entries(shape).every(([name, member]) => {
    if (name === '*') return Object.values(value).every((each) => fits(each, member));
    if (!name.endsWith('?')) return fits(value[name], member);
    const given = value[name.slice(0, -1)];
    return given === undefined || fits(given, member);
  });
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

/** A value that has one of these shapes. */
export function either(...shapes: Shape[]): Shape {
  return (value) => shapes.some((shape) => fits(value, shape));
}

/** One of these values. */
export function oneOf(...values: unknown[]): Shape {
  return (value) => values.includes(value);
}
