import type { Json, JsonObject } from '../base/tool-call.ts';
import { placeholderOf, sensitiveKinds, tooMuch } from './kinds.ts';
import { leavesOf, type Path, valueAt } from './leaves.ts';
import { redactedArguments } from './redact-arguments.ts';
import type { RedactedValue } from './redaction.ts';

/** One value in which reviewers were shown placeholders. */
export interface KeptValue {
  path: Path;
  /** The placeholders as shown, in order, each with the text that it stands for. One that was never hidden stands for itself. */
  placeholders: readonly (readonly [placeholder: string, original: string])[];
  /** The original is a number. */
  isNumber?: true;
  /** For a value within a list: its item, as it was shown, and the length of the list. */
  item?: { path: Path; shown: Json; listLength: number };
}

/** What `restorePlaceholders` needs of the arguments that were shown. `names`: as there. */
export function keptValues(
  args: JsonObject,
  values: readonly RedactedValue[],
  names: readonly string[] = [],
): KeptValue[] {
  const shown = redactedArguments(args, values);
  const known = placeholdersNamed(
    names,
    values.flatMap(({ spans }) => spans.map(([, , placeholder]) => placeholder)),
  );
  const spansAt = new Map(values.map(({ path, spans }) => [JSON.stringify(path), spans]));
  return leavesOf(args).flatMap(({ path, value, text }): KeptValue[] => {
    const placeholders: [string, string][] = [];
    const takeWritten = (from: number, end: number): void => {
      for (const [written] of text.slice(from, end).matchAll(known)) placeholders.push([written, written]);
    };
    let from = 0;
    for (const [start, end, placeholder] of spansAt.get(JSON.stringify(path)) ?? []) {
      takeWritten(from, start);
      placeholders.push([placeholder, text.slice(start, end)]);
      from = end;
    }
    takeWritten(from, text.length);
    if (placeholders.length === 0) return [];
    const item = itemOf(shown, path);
    return [{ path, placeholders, ...(typeof value === 'number' && { isNumber: true }), ...(item && { item }) }];
  });
}

function itemOf(shown: JsonObject, path: Path): KeptValue['item'] {
  const index = path.findIndex((key) => typeof key === 'number');
  if (index === -1) return undefined;
  const list = valueAt(shown, path.slice(0, index)) as Json[];
  const itemPath = path.slice(0, index + 1);
  return { path: itemPath, shown: valueAt(shown, itemPath)!, listLength: list.length };
}

/** Matches the placeholders of the built-in kinds, of these patterns, and these. */
export function placeholdersNamed(names: readonly string[], more: readonly string[]): RegExp {
  const all = new Set([...sensitiveKinds.map(placeholderOf), tooMuch, ...names.map(placeholderOf), ...more]);
  return new RegExp([...all].map((each) => each.replace(/\W/g, String.raw`\$&`)).join('|'), 'g');
}
