import type { Json } from 'countersign/base';
import { jsonPlace, readJson } from 'countersign/json';
import type { FormNode } from './form-node.ts';

export type FormProblems = Readonly<Record<string, string>>;

/** The name of the edited value in places such as `arguments.amount`. The gateway's sentences use the same name. */
export const formRoot = 'arguments';

/** The value of a form, or its problems: texts that are no valid number or no valid JSON. The schema is not checked. */
export function readForm(form: FormNode): { value: Json } | { problems: FormProblems } {
  const problems: Record<string, string> = {};
  const value = readNode(form, [], problems);
  return Object.keys(problems).length === 0 ? { value } : { problems };
}

/** The value of a node. If a text cannot be read, its value is null, and `problems` gets a sentence for its place. */
function readNode(node: FormNode, path: readonly PropertyKey[], problems: Record<string, string>): Json {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'flag':
      return node.on;
    case 'choice':
      return node.options[node.at]!;
    case 'list':
      return node.items.map((item, index) => readNode(item, [...path, index], problems));
    case 'object': {
      const entries = node.members.flatMap(({ name, node: member }) =>
        member === undefined ? [] : [[name, readNode(member, [...path, name], problems)] as const],
      );
      return Object.fromEntries(entries);
    }
    case 'number':
    case 'json': {
      const place = jsonPlace(formRoot, path);
      const parsed = readJson(node.text.trim(), { root: place });
      if ('value' in parsed && (node.kind === 'json' || typeof parsed.value === 'number')) return parsed.value;
      problems[place] = node.kind === 'number' ? 'Write a number, such as 12 or 0.5.' : jsonProblem(parsed);
      return null;
    }
  }
}

function jsonProblem(failed: object): string {
  return 'problem' in failed ? `Write JSON: ${String(failed.problem)}.` : 'Write JSON.';
}

/** Reads from a sentence of the gateway the problems of single values, such as `arguments.amount: expected number`. */
export function placedProblems(sentence: string): FormProblems {
  const problems: Record<string, string> = {};
  for (const part of sentence.split('; ')) {
    const [, place, text] = /(?:^|\s)(arguments(?:\.[\w$]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])+): (.+)$/s.exec(part) ?? [];
    if (place !== undefined && text !== undefined) problems[place] ??= text;
  }
  return problems;
}

/** A changed value. `before` is absent if the value was added, and `after` if it was removed. */
export interface ChangedValue {
  place: string;
  before?: Json;
  after?: Json;
}

/** The changed values. Two objects, or two arrays, are compared member by member. `path`: the place of both values. */
export function changedValues(before: Json, after: Json, path: readonly PropertyKey[] = []): ChangedValue[] {
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => {
      const inner = [...path, Array.isArray(before) ? Number(key) : key];
      const [was, is] = [memberOf(before, key), memberOf(after, key)];
      if (was !== undefined && is !== undefined) return changedValues(was, is, inner);
      return [
        { place: placeOf(inner), ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) },
      ];
    });
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ place: placeOf(path), before, after }];
}

function placeOf(path: readonly PropertyKey[]): string {
  return jsonPlace('', path).replace(/^\./, '');
}

function isContainer(value: Json): value is Json[] | { [name: string]: Json } {
  return typeof value === 'object' && value !== null;
}

function memberOf(value: Json[] | { [name: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined;
}
