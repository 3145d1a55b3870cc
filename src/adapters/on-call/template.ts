import { isObject } from '../../core/base/is-object.ts';
import type { Json, JsonObject } from '../../core/base/tool-call.ts';
import { policyInvalid } from '../../channels/policy-invalid.ts';

const placeholder = /\{\{([^{}]*)\}\}/g;
const path = /^[A-Za-z_]\w*(?:\.[\w-]+)*$/;

/** What placeholders may name: the values of `whole`, and the values of `deep` with their members. */
export interface Known {
  deep: readonly string[];
  whole?: readonly string[];
}

/** Throws `policy_invalid` if a placeholder of the template, such as `{{request.toolName}}`, names nothing that is known. */
export function checkTemplate(template: Json, { deep, whole = [] }: Known, place: string): void {
  for (const text of textsOf(template)) {
    for (const [written, name] of text.matchAll(placeholder)) {
      const wanted = name!.trim();
      const isKnown = whole.includes(wanted) || deep.some((each) => wanted === each || wanted.startsWith(`${each}.`));
      if (path.test(wanted) && isKnown) continue;
      const message = `${place} has the placeholder ${written}, which stands for nothing; known are ${[...whole, ...deep].join(', ')}.`;
      throw policyInvalid(message);
    }
    if (/\{\{|\}\}/.test(text.replaceAll(placeholder, ''))) {
      throw policyInvalid(`${place} has a placeholder that does not end.`);
    }
  }
}

/**
 * A JSON template with values in it. A text that is one placeholder becomes the value itself, null if there is none;
 * within a text, a value is part of the text. No value is read as JSON or as a placeholder, so none adds a member.
 */
export function fillTemplate(template: Json, values: JsonObject): Json {
  if (typeof template === 'string') {
    const only = /^\{\{([^{}]*)\}\}$/.exec(template);
    return only === null ? fillText(template, values) : (memberOf(values, only[1]!) ?? null);
  }
  if (Array.isArray(template)) return template.map((each) => fillTemplate(each, values));
  if (!isObject(template)) return template;
  // From entries, because an assignment to __proto__ makes no member.
  return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, fillTemplate(each, values)]));
}

/** A text with values in it, each as `encode` writes it. */
export function fillText(
  template: string,
  values: JsonObject,
  encode: (value: string) => string = (value) => value,
): string {
  return template.replaceAll(placeholder, (_, name: string) => {
    const value = memberOf(values, name) ?? '';
    return encode(typeof value === 'string' ? value : JSON.stringify(value));
  });
}

/** Own members only. */
export function memberOf(values: Json, name: string): Json | undefined {
  let value: Json | undefined = values;
  for (const part of name.trim().split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as JsonObject)[part];
  }
  return value;
}

function textsOf(template: Json): string[] {
  if (typeof template === 'string') return [template];
  if (typeof template !== 'object' || template === null) return [];
  return [...(Array.isArray(template) ? [] : Object.keys(template)), ...Object.values(template).flatMap(textsOf)];
}
