import type { Span } from './find-sensitive.ts';
import type { Json } from '../base/tool-call.ts';

/** A policy's own pattern. `name` determines the placeholder: `TICKET` gives `[TICKET · 488c]`. */
export interface OwnPattern {
  name: string;
  /** In RE2 syntax. */
  pattern: string;
}

/** What the policies of a run redact in the arguments that reviewers see. */
export interface RedactionSettings {
  /** Kinds of the built-in patterns. */
  kinds: readonly string[];
  patterns: readonly OwnPattern[];
  /** Names of arguments to redact that are otherwise exempt because they say what a call does. */
  also: readonly string[];
}

/** What reviewers do not see of one value: its path, and the hidden parts of its text. */
export interface RedactedValue {
  path: readonly (string | number)[];
  /** The hidden parts. For a number, these are parts of its JSON. */
  spans: readonly Span[];
}

/** What reviewers do not see of a call's arguments, and by which settings it was found. */
export interface Redaction {
  /** SHA-256 of the settings. */
  settings: string;
  /** SHA-256 of the policies' own patterns. */
  patterns: string;
  /** Kinds of the built-in patterns, for the texts beside the arguments. */
  kinds: readonly string[];
  values: readonly RedactedValue[];
}

export type Path = readonly (string | number)[];

/** A text or a number within a JSON value. */
export interface Leaf {
  path: Path;
  value: string | number;
  /** The text to which spans refer; for a number, its JSON. */
  text: string;
}

/** All texts and numbers within a value, with their paths. */
export function leavesOf(value: Json, path: Path = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => leavesOf(each, [...path, index]));
  if (typeof value === 'string') return [{ path, value, text: value }];
  if (typeof value === 'number') return [{ path, value, text: JSON.stringify(value) }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((name) => leavesOf(value[name]!, [...path, name]));
}

/** The value at a path; undefined if there is none. Reads own members only: a name may be `__proto__`. */
export function valueAt(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as { [name: string]: Json })[key];
  }
  return value;
}
