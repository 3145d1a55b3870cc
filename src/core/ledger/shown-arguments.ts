/** The arguments that lists show without a worker: one short line each, without secrets, made at the opening. */
import { byteLength, escapeText, escapeUnseen, fitting } from '../base/text.ts';
import { writeCanonicalJson } from '../base/canonical-json.ts';
import { redactedArguments, redactedNames, type RedactedValue } from '../redact/redaction.ts';
import { redactText, namesSecret } from '../redact/find-sensitive.ts';
import { secretKinds } from '../redact/kinds.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import type { ApprovalRequest } from './approval.ts';

export type ShownArguments = Required<Pick<ApprovalRequest, 'shownArguments' | 'notShown'>>;

/** Longest text of one value, in UTF-16 units before invisible characters are escaped. */
const longestValue = 200;
/** How much of a value is searched for secrets, in UTF-16 units: far more than is shown. */
const longestSearched = 2_000;
const shownBytes = 1_000;
const notShownBytes = 1_000;
/** The longest name that is shown. Even with every character escaped, it has room in a list of names. */
export const longestName = 160;

/** The arguments `names` as lists show them, while there is room; undefined if none is. `hidden`: parts not to show. */
export function shownArguments(
  original: JsonObject,
  names: readonly string[],
  hidden: readonly RedactedValue[] = [],
): ShownArguments | undefined {
  const args = redactedArguments(original, hidden);
  const redacted = redactedNames(hidden);
  const shown: [string, string][] = [];
  const whole = new Set<string>();
  let bytes = 2;
  for (const name of names) {
    if (!Object.hasOwn(args, name)) continue;
    const { text, isWhole } = lineOf(name, args[name]!);
    bytes += byteLength(JSON.stringify([name, text]));
    if (bytes > shownBytes) break;
    shown.push([name, text]);
    if (isWhole && !redacted.includes(name)) whole.add(name);
  }
  if (shown.length === 0) return undefined;
  const others = Object.keys(args).filter((name) => !whole.has(name));
  const notShown = others.map((name) => name.slice(0, longestName));
  return { shownArguments: Object.fromEntries(shown), notShown: fitting(notShown, notShownBytes) };
}

/** The JSON of a value, canonical if possible. Never throws: an error would fail a workflow's task again and again. */
function jsonOf(value: Json): string {
  const written = writeCanonicalJson(value);
  return 'problem' in written ? JSON.stringify(value) : written.text;
}

/** One argument in one line, cut and without secrets. `isWhole`: the line shows the whole value. */
function lineOf(name: string, value: Json): { text: string; isWhole: boolean } {
  if (namesSecret(name)) return { text: '[PASSWORD]', isWhole: false };
  const isText = typeof value === 'string';
  const written = isText ? value : jsonOf(value);
  const searched = written.slice(0, longestSearched);
  const redacted = redactText(searched, secretKinds);
  const kept = redacted.slice(0, longestValue).replace(/\p{Surrogate}$/u, '');
  // JSON has escaped its backslashes and line ends already.
  const line = isText ? escapeText(kept) : escapeUnseen(kept);
  const left = redacted.length - kept.length + (written.length - searched.length);
  const more = left === 0 ? '' : `… [${left} more characters]`;
  return { text: `${line}${more}`, isWhole: left === 0 && redacted === searched };
}

export type ListedArguments = Pick<ApprovalRequest, 'shownArguments'> & { argumentNames: readonly string[] };

/** The arguments in one line, such as `amount: 120.00, recipient: ann, note`, where `note` has no shown value. */
export function argumentsText({ argumentNames, shownArguments = {} }: ListedArguments): string {
  const shown = Object.entries(shownArguments).map(([name, text]) => `${escapeText(name)}: ${escapeUnseen(text)}`);
  const others = argumentNames.filter((name) => !Object.hasOwn(shownArguments, name)).map(escapeText);
  return [...shown, ...others].join(', ');
}

/** A call in one line, for example `refund(amount: 120.00, recipient: ann, note)`. */
export function callText(request: Pick<ApprovalRequest, 'toolName' | 'shownArguments' | 'arguments'>): string {
  const { toolName, shownArguments, arguments: args } = request;
  return `${escapeText(toolName)}(${argumentsText({ shownArguments, argumentNames: Object.keys(args) })})`;
}
