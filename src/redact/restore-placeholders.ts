import { jsonDigest } from '../core/base/digest.ts';
import { jsonPlace } from '../core/base/json.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import type { KeptValue } from '../core/redact/kept-values.ts';
import { type Path, valueAt } from '../core/redact/redaction.ts';
import { placeholdersNamed } from '../core/redact/kinds.ts';

/**
 * Puts the original values back into edited arguments. A placeholder in its place becomes its original value. In any
 * other place it would be ambiguous, so it is refused. `names`: those of the policies' own patterns.
 */
export function restorePlaceholders(
  edited: JsonObject,
  kept: readonly KeptValue[],
  names: readonly string[] = [],
): { args: JsonObject } | { problem: string } {
  const shown = kept.flatMap(({ placeholders }) => placeholders.map(([placeholder]) => placeholder));
  const known = placeholdersNamed(names, shown);
  const isInItsPlace = placeTest(edited);
  const byPath = new Map(kept.map((value) => [JSON.stringify(value.path), value]));
  try {
    return { args: restored(edited, []) as JsonObject };
  } catch (error) {
    if (error instanceof Misplaced) return { problem: error.message };
    throw error;
  }

  /** The value with the originals in its texts. `path`: the place of the value in the arguments. */
  function restored(value: Json, path: (string | number)[]): Json {
    if (Array.isArray(value)) return value.map((each, index) => restored(each, [...path, index]));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.keys(value).map((name) => [unredactedName(name, path), restored(value[name]!, [...path, name])]),
      );
    }
    return typeof value === 'string' ? restoredText(value, path) : value;
  }

  /** Refuses a placeholder in a name: only values are redacted, so a placeholder there replaces nothing. */
  function unredactedName(name: string, path: Path): string {
    const [written] = name.match(known) ?? [];
    if (written === undefined) return name;
    throw new Misplaced(`${jsonPlace('arguments', path)}: the name of a member holds ${written}: write the name`);
  }

  /** The text with its hidden values. Throws `Misplaced` if a placeholder cannot be restored exactly. */
  function restoredText(text: string, path: (string | number)[]): Json {
    const written = Array.from(text.matchAll(known));
    if (written.length === 0) return text;
    const place = jsonPlace('arguments', path);
    const value = byPath.get(JSON.stringify(path));
    const first = written[0]![0];
    if (value === undefined) {
      throw new Misplaced(`${place}: ${first} stands for a value that was not here: write the value, or leave it out`);
    }
    const { item, placeholders, isNumber } = value;
    if (item !== undefined && !isInItsPlace(item)) {
      const where = jsonPlace('arguments', item.path);
      throw new Misplaced(
        `${place}: ${first} keeps its value only if ${where} is otherwise unchanged and nothing is taken from its list: write the value`,
      );
    }
    const chosen = originalsOf(
      written.map(([placeholder]) => placeholder),
      placeholders,
    );
    if (chosen === undefined) {
      const all = placeholders.map(([placeholder]) => placeholder).join(', ');
      throw new Misplaced(
        `${place}: the placeholders must be those that were shown here, in their order (${all}), or none of them`,
      );
    }
    let [whole, from] = ['', 0];
    for (const [index, match] of written.entries()) {
      whole += text.slice(from, match.index) + chosen[index]!;
      from = match.index + match[0].length;
    }
    whole += text.slice(from);
    return isNumber === true && text === first ? (JSON.parse(whole) as Json) : whole;
  }
}

class Misplaced extends Error {}

/** Returns the originals of the remaining placeholders; undefined if one is new, has moved, or fits several. */
function originalsOf(written: readonly string[], placeholders: KeptValue['placeholders']): string[] | undefined {
  const [earliest, latest] = [match(written, placeholders), match(written.toReversed(), placeholders.toReversed())];
  if (earliest === undefined || latest === undefined) return undefined;
  const isOne = earliest.every((original, index) => original === latest[written.length - 1 - index]);
  return isOne ? earliest : undefined;
}

/** The originals of `written`, each of the first placeholder that fits in order; undefined if one does not fit. */
function match(written: readonly string[], placeholders: KeptValue['placeholders']): string[] | undefined {
  const originals: string[] = [];
  for (const [placeholder, original] of placeholders) {
    if (written[originals.length] === placeholder) originals.push(original);
  }
  return originals.length === written.length ? originals : undefined;
}

/**
 * Returns a function that says whether an item of a list is in its place and unchanged. Items have no names, so an item
 * that moved cannot be identified. The function digests each item only once.
 */
function placeTest(edited: JsonObject): (item: NonNullable<KeptValue['item']>) => boolean {
  const digests = new Map<string, string | undefined>();
  const digestAt = (path: Path): string | undefined => {
    const key = JSON.stringify(path);
    if (!digests.has(key)) {
      const item = valueAt(edited, path);
      digests.set(key, item === undefined ? undefined : jsonDigest(item));
    }
    return digests.get(key);
  };
  return ({ path, shownDigest, listLength }) => {
    const list = valueAt(edited, path.slice(0, -1));
    // A longer list has new items. In a shorter one, an equal item could have moved up to this place.
    return Array.isArray(list) && list.length >= listLength && digestAt(path) === shownDigest;
  };
}
