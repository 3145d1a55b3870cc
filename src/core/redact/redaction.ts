import type { Span } from './find-sensitive.ts';

/** A pattern of a policy. `name` gives its placeholder: `TICKET` gives `[TICKET · 488c]`. */
export interface OwnPattern {
  name: string;
  /** In RE2 syntax. */
  pattern: string;
}

/** What is replaced in the arguments that reviewers see, by the policies of a run. */
export interface RedactionSettings {
  /** Kinds of the built-in patterns. */
  kinds: readonly string[];
  patterns: readonly OwnPattern[];
  /** Names of arguments that are redacted although they say what a call does. */
  also: readonly string[];
}

/** What reviewers do not see of one value: the way to it, and the parts of its text. */
export interface RedactedValue {
  path: readonly (string | number)[];
  /** Of a number: parts of its JSON. */
  spans: readonly Span[];
}

/** What reviewers do not see of a call's arguments, and by which settings it was found. */
export interface Redaction {
  /** SHA-256 of the settings. */
  settings: string;
  /** SHA-256 of their own patterns. */
  patterns: string;
  /** Kinds of the built-in patterns, for the texts beside the arguments. */
  kinds: readonly string[];
  values: readonly RedactedValue[];
}
