import type { JsonObject, ToolSchema } from 'countersign';
import { isObject } from 'countersign/base';

interface Issue {
  message: string;
  path?: PropertyKey[];
}

type Check = (value: unknown, path: PropertyKey[]) => Issue | undefined;

/**
 * Returns the schema of a tool's arguments from its JSON Schema. Arguments are passed on as the model wrote them,
 * without defaults.
 *
 * A server writes the schema, so a check must be cheap: it examines types, properties, required ones, enumerations and
 * items, each value once. The server itself checks patterns, references and combinations.
 */
export function argumentSchema(schema: JsonObject): ToolSchema {
  const check = checkOf(schema);
  const converter = (): Record<string, unknown> => schema;
  return {
    '~standard': {
      version: 1,
      vendor: 'countersign-mcp',
      validate: (value) => {
        const issue = check(value, []);
        return issue === undefined ? { value: value as object } : { issues: [issue] };
      },
      jsonSchema: { input: converter, output: converter },
    },
  };
}

const accept: Check = () => undefined;

/** Returns a check of what models get wrong: types, listed values and members. The server checks other keywords. */
function checkOf(schema: unknown): Check {
  if (!isObject(schema)) return accept;
  const { type, enum: listed, items, properties, required, additionalProperties } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((each): each is string => typeof each === 'string');
  const values = Array.isArray(listed) && listed.every(isPrimitive) ? new Set<unknown>(listed) : undefined;
  // `items` does not apply to items of `prefixItems`, nor `additionalProperties` to names that a pattern matches.
  const { prefixItems, patternProperties } = schema;
  const ofItem = prefixItems === undefined ? checkOf(items) : accept;
  const ofMembers = new Map(
    isObject(properties) ? Object.entries(properties).map(([name, each]) => [name, checkOf(each)]) : [],
  );
  const needed = Array.isArray(required) ? required.filter((each) => typeof each === 'string') : [];
  const rest = patternProperties === undefined ? additionalProperties : true;
  const ofOther = rest === false ? undefined : checkOf(rest);
  return (value, path) => {
    if (types.length > 0 && !types.some((each) => isOf(each, value))) {
      return { message: `expected ${types.join(' or ')}`, path };
    }
    if (values !== undefined && !values.has(value)) {
      return { message: `expected one of ${JSON.stringify(listed)}`, path };
    }
    if (Array.isArray(value)) return firstIssue(value.entries(), path, () => ofItem);
    if (!isObject(value)) return undefined;
    const missing = needed.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return { message: 'is missing', path: [...path, missing] };
    return firstIssue(Object.entries(value), path, (name) => ofMembers.get(String(name)) ?? ofOther);
  };
}

/**
 * Returns the first issue among the items or members. `path` changes during a check, so an issue gets a copy.
 * `checkFor` returns undefined for a member that the schema forbids.
 */
function firstIssue(
  entries: Iterable<[PropertyKey, unknown]>,
  path: PropertyKey[],
  checkFor: (key: PropertyKey) => Check | undefined,
): Issue | undefined {
  for (const [key, value] of entries) {
    const check = checkFor(key);
    if (check === undefined) return { message: 'the tool has no such argument', path: [...path, key] };
    if (check === accept) continue;
    path.push(key);
    const issue = check(value, path);
    if (issue !== undefined) return { ...issue, path: [...issue.path!] };
    path.pop();
  }
  return undefined;
}

/** True if the value has this type of JSON Schema, or if the type is unknown. */
function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return true;
  }
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
