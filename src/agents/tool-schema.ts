// oxlint-disable no-underscore-dangle -- `_zod` is the property that zod documents for libraries
import { z } from 'zod';
import type { JsonObject } from '../core/base/tool-call.ts';
import { DefinitionError } from './definition-error.ts';

/** A zod object schema, from `zod` or `zod/mini`. */
export type ToolSchema = z.core.$ZodObject;

/**
 * The JSON Schema (2020-12) of the input that a model must send for `schema`.
 *
 * The parsed arguments are shown, hashed, approved and executed, and a reviewer's edit of them is parsed again. So the
 * output of the schema must be JSON, and must be valid as its input. Defaults and stripped keys are allowed;
 * transforms, codecs, dates and similar types are refused with a `DefinitionError`.
 */
export function jsonSchemaOf(place: string, schema: unknown): JsonObject {
  if (!isSchema(schema) || schema._zod.def.type !== 'object') {
    throw new DefinitionError(`${place}: expected a zod object schema, such as z.object({ path: z.string() })`);
  }
  try {
    const json = z.toJSONSchema(schema, { io: 'input' });
    z.toJSONSchema(schema, { io: 'output' });
    const unfit = findUnfit(schema, new Set());
    if (unfit !== undefined) throw new Error(`${unfit} is not supported`);
    return JSON.parse(JSON.stringify(json)) as JsonObject;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DefinitionError(
      `${place}: ${why}: a tool receives exactly the arguments that were approved, as JSON, so its schema takes and gives plain JSON`,
    );
  }
}

const unfitTypes = new Set(['transform', 'promise', 'success', 'file', 'function']);

/** The kind of the first inner schema whose output has another form than its input. JSON Schema does not show these. */
function findUnfit(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): string | undefined {
  if (seen.has(schema)) return undefined;
  seen.add(schema);
  const { type } = schema._zod.def;
  if (unfitTypes.has(type)) return type;
  if (type === 'pipe' && 'transform' in schema._zod.def) return 'codec';
  const inner = type === 'lazy' ? [(schema as z.core.$ZodLazy)._zod.innerType] : innerSchemas(schema._zod.def);
  for (const each of inner) {
    const unfit = findUnfit(each, seen);
    if (unfit !== undefined) return unfit;
  }
  return undefined;
}

/** The schemas inside a definition: directly, in a list (union, tuple) or by name (object). */
function innerSchemas(definition: z.core.$ZodTypeDef): z.core.$ZodType[] {
  return Object.values(definition).flatMap((value: unknown) => {
    if (isSchema(value)) return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).filter(isSchema) : [];
  });
}

function isSchema(value: unknown): value is z.core.$ZodType {
  if (typeof value !== 'object' || value === null || !('_zod' in value)) return false;
  const internals = value._zod as { def?: { type?: unknown } } | undefined;
  return typeof internals?.def?.type === 'string';
}
