import { isObject } from './json.ts';
import { isUndecodable } from './undecodable.ts';

/**
 * Describes what a value from another process must look like. A name such as `string` stands for a type; `texts` is a
 * list of strings. A list with one shape means a list of such values. An object lists the members that a value must
 * have: `name?` may be absent, `*` stands for every member, and further members are allowed.
 */
export type Shape =
  | 'string'
  | 'number'
  | 'texts'
  | readonly [Shape]
  | { readonly [member: string]: Shape }
  | ((value: unknown) => boolean);

/** A shape with the names of the members of `Type`. It may leave out members on whose type no code relies. */
export type ShapeOf<Type> = {
  readonly [Name in keyof Type & string as object extends Pick<Type, Name> ? `${Name}?` : Name]?: Shape;
};

/** True if the value has this shape. An `Undecodable` fits no object, not even one with only optional members. */
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

export function oneOf(...values: unknown[]): Shape {
  return (value) => values.includes(value);
}
