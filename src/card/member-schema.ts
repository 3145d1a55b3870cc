import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { isObject } from '../core/base/json.ts';
import { isTooDeep, writeCanonicalJson } from '../core/base/canonical-json.ts';
import { visibleJson } from '../text/visible-text.ts';

/** The most schemas that are read for one value: schemas may refer to each other without end. */
const mostSteps = 10;
/** The most steps of one reference. A longer one resolves to nothing. */
const mostPathSteps = 20;

/** Returns the schema of a member or an element; `{}` if the schema of the value does not describe it. Never throws. */
export function memberSchema(schema: JsonObject, key: string | number, root: JsonObject): JsonObject {
  for (const branch of branches(schema, root)) {
    const member = typeof key === 'number' ? itemOf(branch, key) : ownObject(own(branch, 'properties'), key);
    if (member === undefined) continue;
    // Merge in reverse, so that a title beside a reference overrides the title of the target.
    return Object.assign({}, ...branches(member, root).toReversed()) as JsonObject;
  }
  return {};
}

/** The `title` or `description` of a schema; undefined if it is not a text, or empty. */
export function schemaText(schema: JsonObject, name: 'title' | 'description'): string | undefined {
  const text = own(schema, name);
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

/** Returns the schema, the targets of its references, and its choices (`anyOf`, `oneOf`, `allOf`). */
function branches(schema: JsonObject, root: JsonObject): JsonObject[] {
  const found = [schema];
  for (let index = 0; index < found.length && found.length < mostSteps; index += 1) {
    const each = found[index]!;
    const reference = own(each, '$ref');
    const target = typeof reference === 'string' ? resolved(reference, root) : undefined;
    const choices = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => own(each, name) ?? []);
    for (const next of [target, ...(choices as Json[])]) if (isObject(next) && !found.includes(next)) found.push(next);
  }
  return found;
}

/** Returns the target of a `$ref` within the schema, which is a JSON Pointer such as `#/$defs/item`. */
function resolved(reference: string, root: JsonObject): Json | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let target: Json | undefined = root;
  const steps = reference.slice(2).split('/', mostPathSteps + 1);
  if (steps.length > mostPathSteps) return undefined;
  for (const step of steps) {
    if (!isObject(target)) return undefined;
    target = own(target, step.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return target;
}

function itemOf(schema: JsonObject, index: number): JsonObject | undefined {
  const prefix = own(schema, 'prefixItems');
  const item = Array.isArray(prefix) && index < prefix.length ? prefix[index] : own(schema, 'items');
  return isObject(item) ? item : undefined;
}

function ownObject(value: Json | undefined, key: string): JsonObject | undefined {
  const found = isObject(value) ? own(value, key) : undefined;
  return isObject(found) ? found : undefined;
}

function own(schema: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

const safeDepth = 500;

/** Writes any value as canonical JSON, with JSON escapes for invisible characters. Never throws. */
export function jsonText(value: Json): string {
  const written = writeCanonicalJson(value);
  if ('text' in written) return visibleJson(written.text);
  return visibleJson(isTooDeep(value, safeDepth) ? deepJson(value) : JSON.stringify(value));
}

/** Writes JSON of any depth without recursion. `left` is a stack of what is still to write, the next on top. */
function deepJson(root: Json): string {
  let text = '';
  const left: ({ value: Json } | { text: string })[] = [{ value: root }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if ('text' in next) text += next.text;
    else if (typeof next.value !== 'object' || next.value === null) text += JSON.stringify(next.value);
    else {
      const isList = Array.isArray(next.value);
      const members = Object.entries(next.value).map(([key, value], index) => [
        { text: `${index === 0 ? '' : ','}${isList ? '' : `${JSON.stringify(key)}:`}` },
        { value },
      ]);
      left.push({ text: isList ? ']' : '}' }, ...members.flat().toReversed(), { text: isList ? '[' : '{' });
    }
  }
  return text;
}
