import { isJson } from '../text/read-json.ts';
import { looksLike } from '../text/look-alikes.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { nameWords } from '../assess/finding.ts';
import { type CardField, isCut, type FieldFormat } from './card.ts';
import { type CardBounds, cutInline, cutJson, cutLine, cutLines } from './cut-text.ts';
import { fieldReading, type Siblings } from './field-reading.ts';
import { jsonText, memberSchema, schemaText } from './member-schema.ts';

/** The most characters of a name, of a title and of a description. */
const longestWords = 200;

/** The fields of a call, in the order of the arguments, and warnings about misleading names. */
export interface ArgumentFields {
  fields: CardField[];
  /** How many values get no field, because the card already has `CardBounds.fields` of them. */
  left: number;
  warnings: string[];
  /** True if a value is nested so deeply that its members get no fields. */
  isDeep: boolean;
  isNameCut: boolean;
}

/** Returns the fields of a call's arguments. `schema` is the JSON Schema of all arguments; `{}` if it is unknown. */
export function argumentFields(args: JsonObject, schema: JsonObject, bounds: CardBounds): ArgumentFields {
  const result: ArgumentFields = { fields: [], left: 0, warnings: [], isDeep: false, isNameCut: false };
  addMembers(args, { name: '', path: [], key: '', schema, root: schema, depth: 1 }, bounds, result);
  return result;
}

interface Place {
  /** The visible name on the card, such as `items[0].sku`. */
  name: string;
  path: string[];
  /** The key of the value; for an element of a list, the key of the list. */
  key: string;
  schema: JsonObject;
  root: JsonObject;
  depth: number;
}

/** Adds to `result` the fields of an object's members, and warnings about keys that look alike. */
function addMembers(value: JsonObject, place: Place, bounds: CardBounds, result: ArgumentFields): void {
  const keys = Object.keys(value);
  warnOfLookAlikes(keys, place.name, result);
  const siblings = currencyAmong(value);
  for (const key of keys) {
    // The names of thousands of members may begin with this key, so cut it then even on a card without bounds.
    const isPrefix = isOpened(value[key]!, place.depth, bounds);
    const longest = bounds.value === Infinity && !isPrefix ? Infinity : longestWords;
    const part = fieldName(key, longest);
    result.isNameCut ||= key.length > longest && isCut(cutLine(key, longest));
    const name = place.name === '' ? part : `${place.name}.${part}`;
    const schema = memberSchema(place.schema, key, place.root);
    addValue(value[key]!, { ...place, name, path: [...place.path, part], key, schema }, siblings, bounds, result);
  }
}

/** Adds to `result` the field of a value or, down to `bounds.depth`, its members' fields. Counts what is too much. */
function addValue(value: Json, place: Place, siblings: Siblings, bounds: CardBounds, result: ArgumentFields): void {
  if (result.fields.length >= bounds.fields) {
    result.left += 1;
    return;
  }
  if (isOpened(value, place.depth, bounds)) {
    const inner = { ...place, depth: place.depth + 1 };
    if (!Array.isArray(value)) return addMembers(value, inner, bounds, result);
    for (const [index, element] of value.entries()) {
      const part = `[${index}]`;
      const schema = memberSchema(place.schema, index, place.root);
      const elementPlace = { ...inner, name: place.name + part, path: [...place.path, part], schema };
      addValue(element, elementPlace, siblings, bounds, result);
    }
    return;
  }
  if (hasMembers(value)) result.isDeep = true;
  result.fields.push(fieldOf(value, place, siblings, bounds));
}

function hasMembers(value: Json): value is Json[] | JsonObject {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function isOpened(value: Json, depth: number, bounds: CardBounds): value is Json[] | JsonObject {
  return depth < bounds.depth && hasMembers(value);
}

/** Builds the field of a value, which is shown as JSON unless it is a text. Fields at the top level need no path. */
function fieldOf(value: Json, { name, path, key, schema }: Place, siblings: Siblings, bounds: CardBounds): CardField {
  const title = schemaText(schema, 'title');
  const description = schemaText(schema, 'description');
  const format = fieldFormat(key, schema, value);
  const reading = fieldReading(key, format, value, siblings);
  return {
    name,
    ...(title !== undefined && { title: cutInline(title, longestWords) }),
    ...(description !== undefined && { description: cutInline(description, longestWords) }),
    format,
    value: typeof value === 'string' ? cutText(writtenText(value), bounds) : cutJson(jsonText(value), bounds.value),
    ...(reading !== undefined && { reading }),
    ...(path.length > 1 && { path }),
  };
}

function cutText(text: string, bounds: CardBounds): CardField['value'] {
  return text.includes('\n') ? cutLines(text, bounds) : cutLine(text, bounds.value);
}

/** Writes a text as the card shows it: in quotes if it looks like other JSON, or if its ends would be invisible. */
function writtenText(text: string): string {
  const isLikeJson = /^(?:null|true|false|[-\d.].*)$/s.test(text) && isJson(text);
  const isQuoted = text === '' || isLikeJson || /^[\s"{[]|\s$/.test(text);
  return isQuoted && !text.includes('\n') ? `"${text}"` : text;
}

/** Writes a key as a part of a field's name. The key is in quotes if it could be taken for several keys. */
function fieldName(key: string, longest: number = longestWords): string {
  const shown = cutInline(key, longest);
  return /^[^ .[\]"]+$/.test(key) ? shown : `"${shown.replaceAll('"', '\\u{0022}')}"`;
}

/** Adds a warning for each key that looks like an earlier one, although its characters differ. */
function warnOfLookAlikes(keys: readonly string[], place: string, result: ArgumentFields): void {
  const seen = new Map<string, string>();
  for (const key of keys) {
    const look = looksLike(key).trim();
    const twin = seen.get(look);
    if (twin === undefined) seen.set(look, key);
    else {
      const where = place === '' ? '' : ` in ${place}`;
      result.warnings.push(`Two arguments${where} look alike: '${fieldName(twin)}' and '${fieldName(key)}'.`);
    }
  }
}

/** Returns the currency that a member of the object names. */
function currencyAmong(value: JsonObject): Siblings {
  const found = Object.keys(value).filter((key) => nameWords(key).includes('currency'));
  // If there are several currencies, it is unknown which one an amount has.
  const currency = found.length === 1 ? value[found[0]!] : undefined;
  return typeof currency === 'string' && /^[A-Za-z]{3,5}$/.test(currency) ? { currency } : {};
}

const schemaFormats: Readonly<Record<string, FieldFormat>> = {
  email: 'address',
  'idn-email': 'address',
  uri: 'url',
  url: 'url',
  iri: 'url',
  'uri-reference': 'url',
  'iri-reference': 'url',
  date: 'date',
  'date-time': 'date',
  time: 'date',
  duration: 'duration',
  path: 'path',
  'file-path': 'path',
  'directory-path': 'path',
  money: 'money',
  currency: 'money',
  bytes: 'bytes',
  code: 'code',
  shell: 'code',
  sql: 'code',
};

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const numberFormats: readonly (readonly [ReadonlySet<string>, FieldFormat])[] = [
  [words('ms millis milliseconds sec secs seconds minutes hours days duration timeout ttl'), 'duration'],
  [words('bytes byte'), 'bytes'],
  [words('amount price cost fee total subtotal sum refund payment budget salary tip cents'), 'money'],
  [words('at date time since until deadline expires timestamp'), 'date'],
];
const textFormats: readonly (readonly [ReadonlySet<string>, FieldFormat])[] = [
  [words('url uri href link endpoint webhook'), 'url'],
  [words('to cc bcc recipient recipients email emails mail'), 'address'],
  [words('address addresses payee beneficiary iban account'), 'address'],
  [words('path paths file files filename directory dir folder cwd'), 'path'],
  [words('command cmd script code sql patch diff source expression regex'), 'code'],
  [words('amount price cost fee total refund payment'), 'money'],
  [words('duration timeout ttl'), 'duration'],
];

const ambiguousAddressWords = words('to cc bcc');

/** Returns the format of a value, by its schema, or else by its name (an element's is the list's) and its form. */
export function fieldFormat(name: string, schema: JsonObject, value: Json): FieldFormat {
  if (typeof value === 'boolean') return 'flag';
  if (value === null) return 'text';
  const declared = schema['format'];
  if (typeof declared === 'string' && Object.hasOwn(schemaFormats, declared)) return schemaFormats[declared]!;
  if (typeof schema['contentMediaType'] === 'string') return 'code';
  const wordsOfName = nameWords(name);
  if (typeof value === 'number') return formatOf(numberFormats, wordsOfName) ?? 'number';
  if (typeof value !== 'string') return 'json';
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(value)) return 'url';
  const format = formatOf(textFormats, wordsOfName);
  if (format === 'money' && !/\d/.test(value)) return 'text';
  if (format === 'address' && !isAddress(wordsOfName, value)) return 'text';
  return format ?? (/^\d{4}-\d\d-\d\d(?:$|T)/.test(value) ? 'date' : 'text');
}

/**
 * True if a value whose name suggests an address may be one. `to`, `cc` and `bcc` have other meanings, too: with such a
 * name, the value must look like an address or its placeholder.
 */
function isAddress(wordsOfName: readonly string[], value: string): boolean {
  return !wordsOfName.every((word) => ambiguousAddressWords.has(word)) || /[@\d]|\[[A-Z_]+\]/.test(value);
}

function formatOf(
  table: readonly (readonly [ReadonlySet<string>, FieldFormat])[],
  wordsOfName: readonly string[],
): FieldFormat | undefined {
  return table.find(([wanted]) => wordsOfName.some((word) => wanted.has(word)))?.[1];
}
