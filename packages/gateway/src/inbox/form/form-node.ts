/** The model of a form for a JSON value, made from the value and its JSON Schema. An edit makes new nodes. */
import { isObject, type Json, type JsonObject } from 'countersign/base';
import { memberSchema } from 'countersign/card';

/** One value in a form. Its `kind` says how the user edits it; `json`: as JSON text. */
export type FormNode = { schema: JsonObject } & (
  | { kind: 'text' | 'number' | 'json'; text: string }
  | { kind: 'flag'; on: boolean }
  | { kind: 'choice'; options: readonly Json[]; at: number }
  | { kind: 'object'; members: readonly FormMember[] }
  | { kind: 'list'; items: readonly FormNode[] }
);

export interface FormMember {
  name: string;
  /** Absent: the object does not have this member yet. The user can add it. */
  node?: FormNode;
  isRequired: boolean;
}

/** The limits of a form. The user edits a larger or deeper value as JSON text. */
const most = { depth: 5, members: 60, items: 100 };

/** Makes the form of a value. `root`: the schema of all arguments, in which references are resolved. */
export function formOf(value: Json, schema: JsonObject, root: JsonObject, depth = 0): FormNode {
  const choice = choiceOf(schema, value);
  if (choice !== undefined) return choice;
  if (typeof value === 'string') return { kind: 'text', text: value, schema };
  if (typeof value === 'number') return { kind: 'number', text: String(value), schema };
  if (typeof value === 'boolean') return { kind: 'flag', on: value, schema };
  if (Array.isArray(value) && depth < most.depth && value.length <= most.items) {
    const items = value.map((item, index) => formOf(item, memberSchema(schema, index, root), root, depth + 1));
    return { kind: 'list', items, schema };
  }
  if (isObject(value) && depth < most.depth && Object.keys(value).length <= most.members) {
    return { kind: 'object', members: membersOf(value, schema, root, depth), schema };
  }
  return { kind: 'json', text: JSON.stringify(value, null, 2), schema };
}

/** Makes the form of a new value: the default or first option of its schema, else an empty one of its type, or JSON. */
export function emptyForm(schema: JsonObject, root: JsonObject, depth = 0): FormNode {
  const { default: defaultValue, enum: options } = schema;
  if (defaultValue !== undefined) return formOf(defaultValue, schema, root, depth);
  if (Array.isArray(options) && options.length > 0) return formOf(options[0]!, schema, root, depth);
  switch (typeOf(schema)) {
    case 'string':
      return { kind: 'text', text: '', schema };
    case 'integer':
    case 'number':
      return { kind: 'number', text: '', schema };
    case 'boolean':
      return { kind: 'flag', on: false, schema };
    case 'array':
      return { kind: 'list', items: [], schema };
    case 'object':
      return { kind: 'object', members: membersOf({}, schema, root, depth), schema };
    default:
      return { kind: 'json', text: '', schema };
  }
}

export function nextItem(list: FormNode & { kind: 'list' }, root: JsonObject): FormNode {
  return emptyForm(memberSchema(list.schema, list.items.length, root), root);
}

export function nextMember(object: FormNode & { kind: 'object' }, name: string, root: JsonObject): FormNode {
  return emptyForm(memberSchema(object.schema, name, root), root);
}

/** The first type in a schema that is not `null`. */
export function typeOf({ type }: JsonObject): string | undefined {
  const names = Array.isArray(type) ? type : [type];
  return names.find((name): name is string => typeof name === 'string' && name !== 'null');
}

/** The choice among the options of a schema; undefined if it offers no choice, or if the value is none of them. */
function choiceOf(schema: JsonObject, value: Json): FormNode | undefined {
  const options = schema['enum'];
  if (!Array.isArray(options) || options.length < 2 || options.length > most.items) return undefined;
  const at = options.findIndex((option) => option === value);
  return at === -1 ? undefined : { kind: 'choice', options, at, schema };
}

/** The members of the value, then those that only the schema has. A required one of these gets an empty form. */
function membersOf(value: JsonObject, schema: JsonObject, root: JsonObject, depth: number): FormMember[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const known = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const absent = known.filter((name) => !Object.hasOwn(value, name));
  return [
    ...Object.entries(value).map(([name, member]) => ({
      name,
      node: formOf(member, memberSchema(schema, name, root), root, depth + 1),
      isRequired: required.includes(name),
    })),
    ...absent.slice(0, most.members).map((name) => {
      const isRequired = required.includes(name);
      // A schema may require a member with the same schema, so the limit ends the form.
      const isWritten = isRequired && depth < most.depth;
      return {
        name,
        ...(isWritten && { node: emptyForm(memberSchema(schema, name, root), root, depth + 1) }),
        isRequired,
      };
    }),
  ];
}
