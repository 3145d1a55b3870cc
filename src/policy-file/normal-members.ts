/**
 * The members of a policy in their normal form. They follow from the shapes of the file, so there is only one list of
 * what a policy may contain.
 */
import { z } from 'zod';
import { durationMs, durationOf, type Duration, type FiniteDuration } from './shape.ts';

type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type NameOf<Name, Value> = Name extends string
  ? NonNullable<Value> extends Duration | FiniteDuration
    ? `${Camel<Name>}Ms`
    : Camel<Name>
  : never;
type ValueOf<Value> = Value extends FiniteDuration
  ? number
  : Value extends Duration
    ? number | null
    : Value extends string | number | boolean | null
      ? Value
      : Value extends readonly (infer Item)[]
        ? ValueOf<Item>[]
        : Value extends object
          ? Normal<Value>
          : never;
/**
 * A map of the file in its normal form: names in camel case, durations in milliseconds under names that end in `Ms`.
 */
export type Normal<Value extends object> = {
  [Name in keyof Value as NameOf<Name, Value[Name]>]: ValueOf<Exclude<Value[Name], undefined>>;
};

/** The normal form of a map of the file. Keys that were not written are absent; keys of records stay as they are. */
export function normalMembers<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
  given: object,
): Normal<z.output<z.ZodObject<Shape>>> {
  const members = Object.entries(shape.shape).flatMap(([name, schema]) => {
    const value: unknown = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : undefined;
    return value === undefined ? [] : [[normalName(name, schema), normalValue(schema, value)] as const];
  });
  return Object.fromEntries(members) as Normal<z.output<z.ZodObject<Shape>>>;
}

function normalName(name: string, schema: unknown): string {
  const camel = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return durationOf(unwrapped(schema)) === undefined ? camel : `${camel}Ms`;
}

/** The value as recorded: durations in milliseconds, and members under their names in code. */
function normalValue(wrapped: unknown, value: unknown): unknown {
  const schema = unwrapped(wrapped);
  if (durationOf(schema) !== undefined) return durationMs(value as string);
  if (Array.isArray(value)) {
    return schema instanceof z.ZodArray ? value.map((item) => normalValue(schema.element, item)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (schema instanceof z.ZodUnion) {
    return normalValue(
      schema.options.find((option) => option instanceof z.ZodObject),
      value,
    );
  }
  if (schema instanceof z.ZodObject) return normalMembers(schema, value);
  if (!(schema instanceof z.ZodRecord)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, normalValue(schema.valueType, each)]));
}

/** The schema of a member, without the wrapper that makes the member optional. */
function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}

/**
 * The shape of these members as a run has recorded them. It accepts every text, because another version may have
 * accepted it, and keeps members that this version does not know.
 */
export function recordedMembers<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
): Record<keyof Normal<z.output<z.ZodObject<Shape>>>, z.ZodType> {
  const members = Object.entries(shape.shape).map(([name, schema]) => {
    const recorded = recordedForm(unwrapped(schema));
    return [normalName(name, schema), schema instanceof z.ZodOptional ? recorded.optional() : recorded] as const;
  });
  return Object.fromEntries(members) as Record<keyof Normal<z.output<z.ZodObject<Shape>>>, z.ZodType>;
}

/** The schema of the recorded form of a value: durations in milliseconds, unknown members allowed. */
function recordedForm(wrapped: unknown): z.ZodType {
  const schema = unwrapped(wrapped);
  const duration = durationOf(schema);
  if (duration !== undefined) {
    const ms = z.number().min(duration.leastMs);
    return duration.mayBeNever ? ms.nullable() : ms;
  }
  if (schema instanceof z.ZodString) return z.string();
  if (schema instanceof z.ZodArray) return z.array(recordedForm(schema.element));
  if (schema instanceof z.ZodObject) return z.looseObject(recordedMembers(schema));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), recordedForm(schema.valueType));
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(recordedForm));
  return schema as z.ZodType;
}
