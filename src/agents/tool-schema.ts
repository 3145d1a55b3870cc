// oxlint-disable no-underscore-dangle -- `_zod` is the property that zod documents for libraries
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import type { JsonObject } from '../core/base/tool-call.ts';
import { DefinitionError } from './check-options.ts';
import { parseJson, jsonPlace } from '../core/base/json.ts';

/** The schema of an object, from zod 4 or a library with Standard Schema and Standard JSON Schema. */
export type ToolSchema =
  z.core.$ZodObject | (StandardSchemaV1<unknown, object> & StandardJSONSchemaV1<unknown, object>);

type Standard = StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;

const reasons = {
  input: 'a tool receives exactly the arguments that were approved, as JSON',
  output: 'a run ends with JSON',
} as const;

/**
 * Returns the JSON Schema (2020-12) of the input that a model must send or, with `output`, of the parsed value. A
 * reviewer's edit is parsed again after the first parse, so the schema must accept its own output as input. Transforms,
 * codecs, dates and similar types do not, so they throw a `DefinitionError`. In schemas of a library other than zod
 * they may be invisible here, and fail in `validateArguments`.
 */
export function jsonSchemaOf(place: string, schema: unknown, io: 'input' | 'output' = 'input'): JsonObject {
  const standard = standardOf(place, schema);
  const convert = (side: 'input' | 'output') =>
    standard.jsonSchema === undefined
      ? z.toJSONSchema(schema as z.core.$ZodType, { io: side })
      : standard.jsonSchema[side]({ target: 'draft-2020-12' });
  let json: object;
  try {
    // Convert both sides, so that the schema is refused if either has no JSON Schema.
    json = { input: convert('input'), output: convert('output') }[io];
    const unfit = isZod(schema) ? findUnfit(schema, new Set()) : undefined;
    if (unfit !== undefined) throw new Error(`${unfit} is not supported`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DefinitionError(`${place}: ${why}: ${reasons[io]}, so its schema takes and gives plain JSON`);
  }
  if ('type' in json && json.type === 'object') return parseJson(JSON.stringify(json)) as JsonObject;
  throw new DefinitionError(`${place}: expected the schema of an object, such as z.object({ path: z.string() })`);
}

/** Returns the Standard Schema interface of `schema`. Throws a `DefinitionError` that names an alternative. */
function standardOf(place: string, schema: unknown): Standard {
  const { '~standard': standard } = (schema ?? {}) as { '~standard'?: Standard };
  if (typeof standard?.validate !== 'function') {
    throw new DefinitionError(
      `${place}: expected a schema of zod 4, or of another library with Standard Schema and Standard JSON Schema, such as z.object({ path: z.string() })`,
    );
  }
  if (standard.jsonSchema !== undefined || isZod(schema)) return standard;
  throw new DefinitionError(
    standard.vendor === 'zod'
      ? `${place}: expected a schema of zod 4, and this one is of zod 3: import z from zod 4, or from 'zod/v4' of zod 3.25`
      : `${place}: this schema of ${standard.vendor} gives no JSON Schema for the model: make it a Standard JSON Schema (for valibot, by toStandardJsonSchema of @valibot/to-json-schema), or use zod 4`,
  );
}

const unfitTypes = new Set(['transform', 'promise', 'success', 'file', 'function']);

/** Returns the kind of the first inner schema that JSON Schema cannot express, such as a transform; or undefined. */
function findUnfit(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): string | undefined {
  if (seen.has(schema)) return undefined;
  seen.add(schema);
  const { type } = schema._zod.def;
  if (unfitTypes.has(type)) return type;
  // A codec is a pipe with a function for each direction.
  if (type === 'pipe' && 'transform' in schema._zod.def) return 'codec';
  const inner = type === 'lazy' ? [(schema as z.core.$ZodLazy)._zod.innerType] : innerSchemas(schema._zod.def);
  for (const each of inner) {
    const unfit = findUnfit(each, seen);
    if (unfit !== undefined) return unfit;
  }
  return undefined;
}

/** Returns the schemas directly inside a definition: its members, or the items of a list or an object in it. */
function innerSchemas(definition: z.core.$ZodTypeDef): z.core.$ZodType[] {
  return Object.values(definition).flatMap((value: unknown) => {
    if (isZod(value)) return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).filter(isZod) : [];
  });
}

function isZod(value: unknown): value is z.core.$ZodType {
  if (typeof value !== 'object' || value === null || !('_zod' in value)) return false;
  const internals = value._zod as { def?: { type?: unknown } } | undefined;
  return typeof internals?.def?.type === 'string';
}

/** An issue of any Standard Schema. Issues of zod have `errors`, with the issues of each branch of a union. */
export type Issue = StandardSchemaV1.Issue & { readonly errors?: unknown };

const mostIssues = 5;

/** Describes the first five issues: the place in a value that messages call `root`, and what is expected. */
export function describeIssues(root: string, issues: readonly Issue[], above: readonly PropertyKey[] = []): string {
  const shown = issues.slice(0, mostIssues).map((issue) => describeOne(root, issue, above));
  if (issues.length > mostIssues) shown.push(`and ${issues.length - mostIssues} more`);
  return shown.join('; ');
}

/** Describes an issue; of a union, the first issue of each branch. */
function describeOne(root: string, issue: Issue, above: readonly PropertyKey[]): string {
  const path = [...above, ...(issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step))];
  if (isUnion(issue.errors)) {
    const branches = issue.errors.map((branch) => describeIssues(root, branch.slice(0, 1), path));
    return [...new Set(branches)].join(', or ');
  }
  const message = issue.message.replace(/^Invalid input: /, '').replace(/\s+/g, ' ');
  return `${jsonPlace(root, path)}: ${message}`;
}

function isUnion(errors: unknown): errors is readonly (readonly Issue[])[] {
  return Array.isArray(errors) && errors.length > 0 && errors.every(Array.isArray);
}

const longestProblem = 1_000;

/**
 * Parses a value. A problem calls the value `root`, and names a place in it, such as `arguments.to[0]`, in at most
 * 1,000 characters. Rejects if a custom check of the schema throws.
 */
export async function parseWith(
  root: string,
  schema: StandardSchemaV1<unknown, object>,
  value: JsonObject,
): Promise<{ value: JsonObject } | { problem: string }> {
  const parsed = await schema['~standard'].validate(value);
  if (parsed.issues !== undefined) return { problem: bounded(describeIssues(root, parsed.issues)) };
  // Only JSON reaches the run: a default of undefined or a Date would make the tool receive other arguments.
  return { value: parseJson(JSON.stringify(parsed.value)) as JsonObject };
}

function bounded(text: string): string {
  return text.length <= longestProblem ? text : `${text.slice(0, longestProblem)}…`;
}
