import { type Span, findSensitive, withPlaceholders, type FindMore, namesSecret } from './find-sensitive.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { jsonDigest } from '../base/digest.ts';
import { either, fits, type Shape, type ShapeOf } from '../base/shape.ts';
import { isExempt, isStatement, namesAccount, saysOnWhat } from './exempt-names.ts';
import {
  accountPlaceholder,
  identifyingKinds,
  mostSpans,
  placeholderOf,
  namedKind,
  valuePlaceholder,
} from './kinds.ts';

/** A policy's own pattern. `name` determines the placeholder: `TICKET` gives `[TICKET · 488c]`. */
export interface OwnPattern {
  name: string;
  /** In RE2 syntax. */
  pattern: string;
}

/** What the policies of a run redact in the arguments that reviewers see. */
export interface RedactionSettings {
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

/** What reviewers do not see of a call's arguments, and by which settings the run found it. */
export interface Redaction {
  settings: string;
  patterns: string;
  /** The kinds by which to redact other texts about the call, such as its sentence. */
  kinds: readonly string[];
  values: readonly RedactedValue[];
}

const spanShape: Shape = (value) =>
  Array.isArray(value) && fits(value.slice(0, 2), ['number']) && value.length === 3 && typeof value[2] === 'string';

export const redactionShape: Shape = {
  kinds: 'texts',
  values: [{ path: [either('string', 'number')], spans: [spanShape] } satisfies ShapeOf<RedactedValue>],
};

export type Path = readonly (string | number)[];

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

export interface FindOptions {
  settings: RedactionSettings;
  /** Finds what the settings' own patterns match. */
  findMore?: FindMore;
  /** The argument that is the tool's command. It is redacted only if the settings name it. */
  command?: string;
}

/** Finds the parts of arguments that the settings redact. They are replaced where arguments are shown. Names stay. */
export function redactionOf(args: JsonObject, options: FindOptions): Redaction {
  const { settings } = options;
  const values = leavesOf(args).map((leaf) => ({ path: leaf.path, spans: spansOf(leaf, options) }));
  return { ...marksOf(settings), values: values.filter(({ spans }) => spans.length > 0) };
}

/** The digests and kinds that identify the settings of a redaction. */
export function marksOf({ kinds, patterns, also }: RedactionSettings): Omit<Redaction, 'values'> {
  const own = patterns.map(({ name, pattern }) => ({ name, pattern }));
  return {
    settings: jsonDigest({ kinds: [...kinds], patterns: own, also: [...also] }),
    patterns: jsonDigest(own),
    kinds,
  };
}

/** The parts of one value to hide, by its name or by its text. No exemption applies to names in `also`. */
function spansOf({ path, value, text }: Leaf, { settings, findMore, command }: FindOptions): readonly Span[] {
  const { kinds, also } = settings;
  const names = path.filter((key) => typeof key === 'string');
  const isNamedByPolicy = names.some((name) => also.includes(name));
  const isCommand = command !== undefined && path[0] === command;
  if (text === '' || (isCommand && !isNamedByPolicy)) return [];
  const hideWhole = (placeholder: string): Span[] => [[0, text.length, placeholder]];
  const isExempted = !isNamedByPolicy && isExempt(path);
  // An exempt value is hidden only by its own name, not by an object around it: `{ secret: { command } }`.
  const hasSecretName = (isExempted ? names.slice(-1) : names).some(namesSecret);
  if (kinds.includes('PASSWORD') && hasSecretName) return hideWhole(placeholderOf('PASSWORD'));
  if (isExempted) return [];
  const hiddenKinds =
    !isNamedByPolicy && saysOnWhat(path) ? kinds.filter((kind) => !identifyingKinds.includes(kind)) : kinds;
  const named = namedKind(names.at(-1) ?? '', text);
  if (named !== undefined && hiddenKinds.includes(named)) return hideWhole(valuePlaceholder(named, text));
  // In a JSON number, only a card number can be recognized.
  const searched = typeof value === 'string' ? hiddenKinds : hiddenKinds.filter((kind) => kind === 'CARD');
  const found = findSensitive(text, searched, findMore);
  const spans = isNamedByPolicy ? found : shownAccount(path, text, withoutActions(text, found, isStatement(path)));
  // The digest of the whole is that of its redacted text, which contains nothing hidden.
  return spans.length <= mostSpans ? spans : hideWhole(valuePlaceholder('REDACTED', withPlaceholders(text, spans)));
}

/** If a value is only an account, and its name says so (`iban`), its placeholder also shows the first characters. */
function shownAccount(path: Path, text: string, spans: readonly Span[]): readonly Span[] {
  const [[start, end, placeholder] = [0, 0, ''], ...others] = spans;
  const isAccount = others.length === 0 && placeholder.startsWith('[IBAN ') && namesAccount(path);
  return isAccount && text.trim() === text.slice(start, end) ? [[start, end, accountPlaceholder(text.trim())]] : spans;
}

/** The arguments as reviewers see them. A path that the arguments do not have is skipped. */
export function redactedArguments<Value extends Json>(args: Value, values: readonly RedactedValue[]): Value {
  if (values.length === 0) return args;
  const copy = copyOf(args);
  for (const value of values) replaceAt(copy, value);
  return copy as Value;
}

/** Replaces the spans of one value within `root`, if its path leads to a text or a number. */
function replaceAt(root: Json, { path, spans }: RedactedValue): void {
  const [leaf] = leavesOf(valueAt(root, path) ?? null);
  const holder = valueAt(root, path.slice(0, -1));
  if (leaf === undefined || leaf.path.length > 0 || path.length === 0) return;
  const value = withPlaceholders(leaf.text, spans);
  // An assignment would not set a member named `__proto__`.
  Object.defineProperty(holder, path.at(-1)!, { value, enumerable: true, writable: true, configurable: true });
}

function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [name, copyOf(value[name]!)]));
}

export function redactedNames(values: readonly RedactedValue[]): string[] {
  return [...new Set(values.map(({ path }) => String(path[0])))];
}

/** Matches what separates the lines of a key: line ends (also escaped, as in source text), quotes, comment signs. */
const between = String.raw`(?:\\{1,4}[nr]|[\s"',+>#]){1,40}`;
const line = '[A-Za-z0-9+/=]{32,}';
const header = String.raw`(?:Proc-Type|DEK-Info|Version|Hash|Charset): [\w.,/() -]{1,80}`;
/** Matches what can be a key: long lines of base64, then a shorter one before the end line. */
const keyText = new RegExp(
  String.raw`^-----BEGIN [A-Z0-9 ]{0,60}-----(?:${line})?(?:${between}(?:${line}|${header}))*` +
    String.raw`(?:(?:${between}[A-Za-z0-9+/=]{1,76})?(?:${between})?-----END [A-Z0-9 ]{0,60}-----)?`,
);
/** Matches a whole key: all its lines but the last have the length that keys have. */
const wholeKey =
  /^-----BEGIN [A-Z0-9 ]+-----(?:\s|\\n)+(?:[A-Za-z0-9+/=]{60,76}(?:\s|\\n)+)*[A-Za-z0-9+/=]{1,76}(?:\s|\\n)+-----END [A-Z0-9 ]+-----$/;
/** Matches text that a shell would run, or that contains a line end. */
const runs = /[\n\r`]|\$\(/;

/**
 * Drops or shortens spans that could be a part of what a call does, so that reviewers see it. An attacker could hide
 * commands behind a comment `# password="`, or a file behind the first line of a key. `isStatement`: the text is code.
 */
export function withoutActions(text: string, spans: readonly Span[], isStatement = false): Span[] {
  return spans.flatMap((span): Span[] => {
    const [start, end, placeholder] = span;
    const hidden = text.slice(start, end);
    if (placeholder === placeholderOf('PRIVATE_KEY')) {
      if (isStatement) return wholeKey.test(hidden) ? [span] : [];
      return [[start, start + (keyText.exec(hidden)?.[0].length ?? 0), placeholder]];
    }
    if (placeholder !== placeholderOf('PASSWORD')) return [span];
    return (isStatement ? isPlainSecret(hidden) : !runs.test(hidden)) ? [span] : [];
  });
}

/** False for a part of a statement that may be code and only looks like a secret. */
function isPlainSecret(hidden: string): boolean {
  const [quote] = hidden;
  const isQuoted = (quote === '"' || quote === "'") && hidden.length > 1 && hidden.endsWith(quote);
  const written = isQuoted ? hidden.slice(1, -1) : hidden;
  // A word without quotes and digits is an identifier: `WHERE password=password`.
  return !/[\s;'"`()*|\\]|--/.test(written) && (isQuoted || /\d/.test(written));
}
