/**
 * Finds what reviewers must not see of a call's arguments, where these are parsed, and replaces it where they are
 * shown.
 */
import { jsonDigest } from '../base/digest.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { isExempt, isStatement, namesAccount, saysOnWhat } from './exempt-names.ts';
import { findSensitive, withPlaceholders, type FindMore, type Span, namesSecret } from './find-sensitive.ts';
import {
  accountPlaceholder,
  identifyingKinds,
  mostSpans,
  placeholderOf,
  namedKind,
  valuePlaceholder,
} from './kinds.ts';
import {
  type Leaf,
  leavesOf,
  type Path,
  valueAt,
  type RedactedValue,
  type Redaction,
  type RedactionSettings,
} from './redaction.ts';
import { withoutActions } from './without-actions.ts';

export interface FindOptions {
  settings: RedactionSettings;
  /** Finds what the settings' own patterns match. */
  findMore?: FindMore;
  /** The argument that is the tool's command. It is redacted only if the settings name it. */
  command?: string;
}

/** The parts of the arguments that the settings redact. Names of members are never redacted. */
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

/** The parts of one text or number to redact. */
function spansOf({ path, value, text }: Leaf, { settings, findMore, command }: FindOptions): readonly Span[] {
  const { kinds, also } = settings;
  const names = path.filter((key) => typeof key === 'string');
  const isDemanded = names.some((name) => also.includes(name));
  const isCommand = command !== undefined && path[0] === command;
  if (text === '' || (isCommand && !isDemanded)) return [];
  const whole = (placeholder: string): Span[] => [[0, text.length, placeholder]];
  const saysWhat = !isDemanded && isExempt(path);
  // A command is not hidden because an object around it has the name of a secret: `{ secret: { command } }`.
  const inSecret = (saysWhat ? names.slice(-1) : names).some(namesSecret);
  if (kinds.includes('PASSWORD') && inSecret) return whole(placeholderOf('PASSWORD'));
  if (saysWhat) return [];
  const hidden = !isDemanded && saysOnWhat(path) ? kinds.filter((kind) => !identifyingKinds.includes(kind)) : kinds;
  const named = namedKind(names.at(-1) ?? '', text);
  if (named !== undefined && hidden.includes(named)) return whole(valuePlaceholder(named, text));
  // In a JSON number, only a card number can be recognized.
  const searched = typeof value === 'string' ? hidden : hidden.filter((kind) => kind === 'CARD');
  const found = findSensitive(text, searched, findMore);
  const spans = isDemanded ? found : shownAccount(path, text, withoutActions(text, found, isStatement(path)));
  return spans.length <= mostSpans ? spans : whole(valuePlaceholder('REDACTED', withPlaceholders(text, spans)));
}

/** A value that is nothing but the account that its name announces shows how the account begins. */
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

/** The names of the arguments in which something is replaced. */
export function redactedNames(values: readonly RedactedValue[]): string[] {
  return [...new Set(values.map(({ path }) => String(path[0])))];
}
