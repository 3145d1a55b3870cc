/** How an argument is to be read: as its schema says, else as its name and value suggest. */
import { nameWords } from '../assess/name-words.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import type { FieldFormat } from './card.ts';

const bySchema: Readonly<Record<string, FieldFormat>> = {
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
const numbers: readonly (readonly [ReadonlySet<string>, FieldFormat])[] = [
  [words('ms millis milliseconds sec secs seconds minutes hours days duration timeout ttl'), 'duration'],
  [words('bytes byte'), 'bytes'],
  [words('amount price cost fee total subtotal sum refund payment budget salary tip cents'), 'money'],
  [words('at date time since until deadline expires timestamp'), 'date'],
];
const texts: readonly (readonly [ReadonlySet<string>, FieldFormat])[] = [
  [words('url uri href link endpoint webhook'), 'url'],
  [
    words('to cc bcc recipient recipients email emails mail address addresses payee beneficiary iban account'),
    'address',
  ],
  [words('path paths file files filename directory dir folder cwd'), 'path'],
  [words('command cmd script code sql patch diff source expression regex'), 'code'],
  [words('amount price cost fee total refund payment'), 'money'],
  [words('duration timeout ttl'), 'duration'],
];

const weak = words('to cc bcc');

/** The format of a value that is no object or array. `name`: the key of the value, or of the list that holds it. */
export function fieldFormat(name: string, schema: JsonObject, value: Json): FieldFormat {
  if (typeof value === 'boolean') return 'flag';
  if (value === null) return 'text';
  const declared = schema['format'];
  if (typeof declared === 'string' && Object.hasOwn(bySchema, declared)) return bySchema[declared]!;
  if (typeof schema['contentMediaType'] === 'string') return 'code';
  const own = nameWords(name);
  if (typeof value === 'number') return formatOf(numbers, own) ?? 'number';
  if (typeof value !== 'string') return 'json';
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(value)) return 'url';
  const format = formatOf(texts, own);
  if (format === 'money' && !/\d/.test(value)) return 'text';
  if (format === 'address' && !isAddress(own, value)) return 'text';
  return format ?? (/^\d{4}-\d\d-\d\d(?:$|T)/.test(value) ? 'date' : 'text');
}

/** A journey also has a `to`: such names say only with a value like an address, or its placeholder, what it is. */
function isAddress(own: readonly string[], value: string): boolean {
  return !own.every((each) => weak.has(each)) || /[@\d]|\[[A-Z_]+\]/.test(value);
}

function formatOf(
  table: readonly (readonly [ReadonlySet<string>, FieldFormat])[],
  own: readonly string[],
): FieldFormat | undefined {
  return table.find(([wanted]) => own.some((each) => wanted.has(each)))?.[1];
}
