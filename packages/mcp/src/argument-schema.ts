import type { JsonObject, ToolSchema } from 'countersign';
import { isObject } from 'countersign/base';

interface Issue {
  message: string;
  path?: PropertyKey[];
}

type Check = (value: unknown, path: PropertyKey[]) => Issue | undefined;

/**
 * Returns the schema that checks the arguments of an MCP tool, from the tool's JSON Schema. The schema fills in no
 * defaults, so that the server gets the arguments as the model wrote them.
 *
 * The check examines each value once, and only its type, listed values, items and members: the MCP server has written
 * the JSON Schema, and a pattern or reference in it could take very long. The server itself checks these keywords.
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

/** The check of a schema that permits every value. */
const accept: Check = () => undefined;

/** Returns the check of a schema. It calls itself for the schemas of items and members. */
function checkOf(schema: unknown): Check {
  if (!isObject(schema)) return accept;
  const checkValue = valueCheck(schema);
  const checkMembers = memberCheck(schema);
  // `items` does not apply to the first items of a list, which `prefixItems` describes: then no item is checked.
  const checkItem = schema['prefixItems'] === undefined ? checkOf(schema['items']) : accept;
  return (value, path) => {
    const issue = checkValue(value, path);
    if (issue !== undefined) return issue;
    if (Array.isArray(value)) return firstIssue(value.entries(), path, () => checkItem);
    return checkMembers(value, path);
  };
}

/** Returns the check of the keywords `type` and `enum`. It ignores an `enum` that lists objects. */
function valueCheck({ type, enum: listed }: Record<string, unknown>): Check {
  const types = (Array.isArray(type) ? type : [type]).filter((name): name is string => typeof name === 'string');
  const values = Array.isArray(listed) && listed.every(isPrimitive) ? new Set<unknown>(listed) : undefined;
  return (value, path) => {
    if (types.length > 0 && !types.some((name) => isOfType(name, value))) {
      return { message: `expected ${types.join(' or ')}`, path };
    }
    if (values === undefined || values.has(value)) return undefined;
    return { message: `expected one of ${JSON.stringify(listed)}`, path };
  };
}

/** Returns the check of an object's members. It accepts every value that is not an object. */
function memberCheck(schema: Record<string, unknown>): Check {
  const { properties, required, additionalProperties, patternProperties } = schema;
  const members = isObject(properties) ? Object.entries(properties) : [];
  const checks = new Map(members.map(([name, memberSchema]) => [name, checkOf(memberSchema)]));
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  // `additionalProperties` does not apply to a name that matches a pattern: with patterns, other names are not checked.
  const others = patternProperties === undefined ? additionalProperties : true;
  const checkOther = others === false ? undefined : checkOf(others);
  return (value, path) => {
    if (!isObject(value)) return undefined;
    const missing = needed.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return { message: 'is missing', path: [...path, missing] };
    return firstIssue(Object.entries(value), path, (name) => checks.get(String(name)) ?? checkOther);
  };
}

/**
 * Returns the first issue among the items or members of a value. `checkFor` returns undefined for a member that the
 * schema forbids. All checks share the one array `path`, so an issue gets a copy.
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

/** True if the value has this type of JSON Schema, or if JSON Schema has no such type. */
function isOfType(type: string, value: unknown): boolean {
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
