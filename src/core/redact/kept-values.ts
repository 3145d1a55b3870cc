import { byteLength } from '../base/text.ts';
import { jsonDigest } from '../base/digest.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { leavesOf, type Path, valueAt, type RedactedValue, redactedArguments } from './redaction.ts';
import { placeholdersNamed, withoutDigest } from './kinds.ts';

/** One value in which reviewers were shown placeholders. */
export interface KeptValue {
  path: Path;
  /** The placeholders in order, each with the text that it replaced. What only looks like one stands for itself. */
  placeholders: readonly (readonly [placeholder: string, original: string])[];
  isNumber?: true;
  /** For a value in a list: the path and the digest of its item, as shown, and the length of the list. */
  item?: { path: Path; shownDigest: string; listLength: number };
}

/** The most bytes of JSON that `keptValues` returns: together with the edit, they are the input of one activity. */
const mostBytes = 700_000;

/**
 * What `restorePlaceholders` needs to undo placeholders in an edit; if that is too much, only their names, by which it
 * refuses an edit with one. `names`: of the policies' own patterns.
 */
export function keptValues(
  args: JsonObject,
  values: readonly RedactedValue[],
  names: readonly string[] = [],
): KeptValue[] {
  const shown = redactedArguments(args, values);
  const anyPlaceholder = placeholdersNamed(
    names,
    values.flatMap(({ spans }) => spans.map(([, , placeholder]) => placeholder)),
  );
  const spansAt = new Map(values.map(({ path, spans }) => [JSON.stringify(path), spans]));
  const itemOf = itemsOf(shown);
  const kept = leavesOf(args).flatMap(({ path, value, text }): KeptValue[] => {
    const placeholders: [string, string][] = [];
    // What looks like a placeholder in the call itself stands for itself.
    const addWritten = (from: number, end: number): void => {
      for (const [written] of text.slice(from, end).matchAll(anyPlaceholder)) placeholders.push([written, written]);
    };
    let shownFrom = 0;
    for (const [start, end, placeholder] of spansAt.get(JSON.stringify(path)) ?? []) {
      addWritten(shownFrom, start);
      placeholders.push([placeholder, text.slice(start, end)]);
      shownFrom = end;
    }
    addWritten(shownFrom, text.length);
    if (placeholders.length === 0) return [];
    const item = itemOf(path);
    return [{ path, placeholders, ...(typeof value === 'number' && { isNumber: true }), ...(item && { item }) }];
  });
  return byteLength(JSON.stringify(kept)) <= mostBytes ? kept : [namesOnly(kept)];
}

/** The placeholders, without originals and digests. Their path is empty, as no text's is, so none can be restored. */
function namesOnly(kept: readonly KeptValue[]): KeptValue {
  const all = new Set(
    kept.flatMap(({ placeholders }) => placeholders.map(([placeholder]) => withoutDigest(placeholder))),
  );
  return { path: [], placeholders: [...all].map((placeholder) => [placeholder, placeholder] as const) };
}

/** Returns a function that finds the list item in which a value is. Each item is digested once: some are long. */
function itemsOf(shown: JsonObject): (path: Path) => KeptValue['item'] {
  const items = new Map<string, KeptValue['item']>();
  return (path) => {
    const index = path.findIndex((key) => typeof key === 'number');
    if (index === -1) return undefined;
    const itemPath = path.slice(0, index + 1);
    const key = JSON.stringify(itemPath);
    const list = valueAt(shown, path.slice(0, index)) as Json[];
    const item = items.get(key) ?? {
      path: itemPath,
      shownDigest: jsonDigest(valueAt(shown, itemPath)!),
      listLength: list.length,
    };
    items.set(key, item);
    return item;
  };
}
