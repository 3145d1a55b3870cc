/** Readings of values, to show beside them: `1.5 MiB`, the host of a URL, the folder to which `..` leads. */
import { nameWords } from '../assess/finding.ts';
import { formatDuration } from '../core/base/duration.ts';
import type { Json } from '../core/base/tool-call.ts';
import { visibleText } from '../text/visible-text.ts';
import type { FieldFormat } from './card.ts';
import { grouped } from './cut-text.ts';

/** What the other members of its object say about a value: the currency, if they name exactly one. */
export interface Siblings {
  currency?: string;
}

const longestText = 2_000;

/** The reading of a value; undefined if the value itself is readable enough. */
export function fieldReading(name: string, format: FieldFormat, value: Json, { currency }: Siblings) {
  if (typeof value === 'number') return readNumber(nameWords(name), format, value, currency);
  if (typeof value !== 'string') return undefined;
  if (format === 'url') return readUrl(value.slice(0, longestText));
  // A longer text is no address or amount. The end of a path may lead elsewhere, so a cut path is not read.
  if (value.length > longestText) return undefined;
  if (format === 'address') return readAddress(value);
  if (format === 'path') return readPath(value);
  if (format === 'duration') return readIsoDuration(value);
  if (format !== 'money' || currency === undefined || !/^\d+(?:\.\d+)?$/.test(value)) return undefined;
  return `${grouped(value)} ${currency}`;
}

/** Reads a number by its format. Money has a reading if its currency is known, if it is in cents, or from 1,000 on. */
function readNumber(wordsOfName: readonly string[], format: FieldFormat, value: number, currency: string | undefined) {
  if (format === 'bytes') return readBytes(value);
  if (format === 'duration') return readDuration(wordsOfName, value);
  if (format === 'date') return readEpoch(wordsOfName, value);
  if (format !== 'money' || Math.abs(value) >= 1e15) return undefined; // a larger double does not keep cents
  // The argument's name may say that the amount is in cents.
  const isInCents = wordsOfName.some((word) => word === 'cents' || word === 'cent' || word === 'minor');
  const amount = isInCents ? value / 100 : value;
  const digits = String(amount);
  if (!/^-?\d+(?:\.\d+)?$/.test(digits)) return undefined;
  const withDecimals = grouped(/\.\d\d/.test(digits) ? digits : amount.toFixed(2));
  if (currency !== undefined) return `${withDecimals} ${currency}`;
  return isInCents || Math.abs(amount) >= 1_000 ? withDecimals : undefined;
}

const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

function readBytes(value: number): string | undefined {
  if (!(value >= 1_024)) return undefined;
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log2(value) / 10));
  return `about ${Number((value / 1_024 ** power).toFixed(1))} ${byteUnits[power]}`;
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  millis: 1,
  milliseconds: 1,
  sec: 1_000,
  secs: 1_000,
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

function readDuration(wordsOfName: readonly string[], value: number): string | undefined {
  const unit = wordsOfName.find((word) => Object.hasOwn(unitMs, word));
  if (unit === undefined || !(value > 0) || value > 1e12) return undefined;
  const reading = formatDuration(value * unitMs[unit]!);
  // A reading with the same number says nothing new, because the argument's name contains the unit.
  return reading.replace(/[a-z]+$/, '') === String(value) ? undefined : reading;
}

const isoDuration =
  /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const isoUnits = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'];

function readIsoDuration(text: string): string | undefined {
  const parts = isoDuration.exec(text)?.slice(1);
  const read = parts?.flatMap((part, index) => (part === undefined ? [] : [`${part} ${isoUnits[index]}`]));
  return read === undefined || read.length === 0 ? undefined : read.join(', ');
}

function readEpoch(wordsOfName: readonly string[], value: number): string | undefined {
  if (!Number.isInteger(value) || value < 1e8 || value > 1e14) return undefined;
  const atMs = value < 1e11 && !wordsOfName.includes('ms') ? value * 1_000 : value;
  // oxlint-disable-next-line no-restricted-globals -- formats a given time; reads no clock
  return new Date(atMs).toISOString();
}

const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i;
/** Matches texts that browsers also read as URLs, although slashes are missing or ignored characters are inserted. */
const isLoose = /^\s|[\t\n\r]|^(?:https?|wss?|ftp):(?!\/\/[^/\\])|^[/\\]{2}/i;

/** Names the host of a URL, because other parts of a URL can look like one; or says that programs read several. */
function readUrl(text: string): string | undefined {
  const found = authority.exec(text)?.[1];
  if (isLoose.test(text) || found?.includes('\\') === true) return 'programs do not agree on the host of this address';
  if (found === undefined) return undefined;
  const at = found.lastIndexOf('@');
  const host = `host ${visibleText(found.slice(at + 1))}${punycode(found.slice(at + 1))}`;
  return at === -1 ? host : `${host}; what stands before the @ is not the host`;
}

function readAddress(text: string): string | undefined {
  const inAngles = /<([^<>]*)>\s*$/.exec(text)?.[1];
  const domain = /@([^@\s>]+)>?\s*$/.exec(text)?.[1] ?? '';
  if (inAngles !== undefined) return `goes to ${visibleText(inAngles)}${punycode(domain)}`;
  const note = punycode(domain);
  return note === '' ? undefined : `at ${visibleText(domain)}${note}`;
}

function punycode(host: string): string {
  return /(?:^|\.)xn--/i.test(host) ? ', which is written with other letters than it shows (punycode)' : '';
}

/** Returns where a path with `..` leads; undefined for a path without it. */
function readPath(text: string): string | undefined {
  const parts = text.split('/');
  if (!parts.includes('..')) return undefined;
  const root = text.startsWith('/') ? '/' : '';
  const kept: string[] = [];
  for (const part of parts.filter((each) => each !== '' && each !== '.')) {
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && !['..', '~'].includes(kept.at(-1)!)) kept.pop();
    // A relative path may lead above its start. The parent of the root is the root.
    else if (root === '') kept.push(part);
  }
  return `leads to ${visibleText(root + kept.join('/') || '.')}`;
}
