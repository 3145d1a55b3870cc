/** The arguments of a call as labelled, typed fields. */
import { isJson } from '../text/is-json.ts';
import { looksLike } from '../text/look-alikes.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { nameWords } from '../assess/name-words.ts';
import { type CardField, isCut } from './card.ts';
import { type CardBounds, cutInline, cutLine, cutLines } from './cut-text.ts';
import { fieldFormat } from './field-format.ts';
import { type Beside, fieldReading } from './field-reading.ts';
import { jsonText } from './json-text.ts';
import { memberSchema, schemaText } from './member-schema.ts';

/** Longest name, title and description, in characters. */
const longestWords = 200;

/** The fields, in the order of the arguments, and what may mislead in them. */
export interface ArgumentFields {
  fields: CardField[];
  /** Members that have no field, because there are too many. */
  left: number;
  warnings: string[];
  /** True if a value is not opened, because it is nested too deeply. */
  isDeep: boolean;
  /** True if a name is cut. */
  isNameCut: boolean;
}

/** `schema`: the JSON Schema of all arguments; `{}` if it is unknown. */
export function argumentFields(args: JsonObject, schema: JsonObject, bounds: CardBounds): ArgumentFields {
  const result: ArgumentFields = { fields: [], left: 0, warnings: [], isDeep: false, isNameCut: false };
  openObject(args, { name: '', key: '', schema, root: schema, depth: 1 }, bounds, result);
  return result;
}

interface Place {
  /** Visible, such as `items[0].sku`. */
  name: string;
  /** The nearest key, which says what the value is. */
  key: string;
  schema: JsonObject;
  root: JsonObject;
  depth: number;
}

function openObject(value: JsonObject, place: Place, bounds: CardBounds, result: ArgumentFields): void {
  const keys = Object.keys(value);
  warnOfTwins(keys, place.name, result);
  const beside = currencyBeside(value);
  for (const key of keys) {
    const longest = bounds.value === Infinity ? Infinity : longestWords;
    // A member's own name is whole. Before those of its members it is cut: each of thousands would repeat all of it.
    const longestOwn = isOpened(value[key]!, place.depth, bounds) ? longestWords : longest;
    const own = nameOf(key, longestOwn);
    result.isNameCut ||= key.length > longestOwn && isCut(cutLine(key, longestOwn));
    const name = place.name === '' ? own : `${place.name}.${own}`;
    const schema = memberSchema(place.schema, key, place.root);
    addValue(value[key]!, { ...place, name, key, schema }, beside, bounds, result);
  }
}

function addValue(value: Json, place: Place, beside: Beside, bounds: CardBounds, result: ArgumentFields): void {
  if (result.fields.length >= bounds.fields) {
    result.left += 1;
    return;
  }
  if (isOpened(value, place.depth, bounds)) {
    const inner = { ...place, depth: place.depth + 1 };
    if (!Array.isArray(value)) return openObject(value, inner, bounds, result);
    for (const [index, each] of value.entries()) {
      const schema = memberSchema(place.schema, index, place.root);
      addValue(each, { ...inner, name: `${place.name}[${index}]`, schema }, beside, bounds, result);
    }
    return;
  }
  if (holdsMembers(value)) result.isDeep = true;
  result.fields.push(fieldOf(value, place, beside, bounds));
}

function holdsMembers(value: Json): value is Json[] | JsonObject {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** True if each member is a field of its own. */
function isOpened(value: Json, depth: number, bounds: CardBounds): value is Json[] | JsonObject {
  return depth < bounds.depth && holdsMembers(value);
}

function fieldOf(value: Json, { name, key, schema }: Place, beside: Beside, bounds: CardBounds): CardField {
  const title = schemaText(schema, 'title');
  const description = schemaText(schema, 'description');
  const format = fieldFormat(key, schema, value);
  const reading = fieldReading(key, format, value, beside);
  const written = typeof value === 'string' ? writtenText(value) : jsonText(value);
  return {
    name,
    ...(title !== undefined && { title: cutInline(title, longestWords) }),
    ...(description !== undefined && { description: cutInline(description, longestWords) }),
    format,
    value: written.includes('\n') ? cutLines(written, bounds) : cutLine(written, bounds.value),
    ...(reading !== undefined && { reading }),
  };
}

/**
 * A text as it is; in quotes if people could take it for a number, for nothing or for another text, or could not see
 * where it ends.
 */
function writtenText(text: string): string {
  const isLikeJson = /^(?:null|true|false|[-\d.].*)$/s.test(text) && isJson(text);
  const isQuoted = text === '' || isLikeJson || /^[\s"{[]|\s$/.test(text);
  return isQuoted && !text.includes('\n') ? `"${text}"` : text;
}

/** A key as part of a name; in quotes if it could be taken for several parts. */
function nameOf(key: string, longest: number = longestWords): string {
  const shown = cutInline(key, longest);
  return /^[^ .[\]"]+$/.test(key) ? shown : `"${shown.replaceAll('"', '\\u{0022}')}"`;
}

/** Two keys that look alike, so that one could be read for the other. */
function warnOfTwins(keys: readonly string[], place: string, result: ArgumentFields): void {
  const seen = new Map<string, string>();
  for (const key of keys) {
    const look = looksLike(key).trim();
    const twin = seen.get(look);
    if (twin === undefined) seen.set(look, key);
    else {
      const where = place === '' ? '' : ` in ${place}`;
      result.warnings.push(`Two arguments${where} look alike: '${nameOf(twin)}' and '${nameOf(key)}'.`);
    }
  }
}

function currencyBeside(value: JsonObject): Beside {
  const found = Object.keys(value).filter((key) => nameWords(key).includes('currency'));
  // Of several, nobody can say which is the amount's.
  const currency = found.length === 1 ? value[found[0]!] : undefined;
  return typeof currency === 'string' && /^[A-Za-z]{3,5}$/.test(currency) ? { currency } : {};
}
