/** What stands in the place of a value: `[IBAN …3000 · 7f2a]`, so that two values can be told apart, or `[PASSWORD]`. */
import { shortDigest } from '../base/digest.ts';
import { placeholderOf, type SensitiveKind, sensitiveKinds, tooMuch } from './kinds.ts';

/** Kinds, and names of a policy's patterns, whose values let in whoever has them. */
const accessNames =
  /(?:KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE|CODE)?|PWD|PIN|OTP|AUTH|JWT|CREDENTIAL|COOKIE|SESSION)S?\d*(?:_|$)/;

/** True if the values of a kind, or of a policy's pattern, grant access: of these, a placeholder shows nothing. */
export function grantsAccess(name: string): boolean {
  return accessNames.test(name);
}

/**
 * The placeholder of a value: its kind, its last characters, and the first four hex digits of its SHA-256. Spellings of one
 * account, address or number have one placeholder. A policy's own patterns show no characters: their values may be short.
 */
export function valuePlaceholder(name: string, value: string): string {
  if (grantsAccess(name)) return placeholderOf(name);
  if (!sensitiveKinds.includes(name as SensitiveKind)) return `[${name} · ${shortDigest(value)}]`;
  const plain = name === 'EMAIL' ? value.toLowerCase() : value.replace(/[\s()./-]/g, '').toUpperCase();
  // None of up to 9 characters, and never more than a quarter.
  const most = Math.max(0, Math.min(4, Math.floor((plain.length - 8) / 2)));
  const [last = ''] = /[A-Za-z\d]*$/.exec(plain.slice(plain.length - most)) ?? [];
  return `[${name}${last === '' ? '' : ` …${last}`} · ${shortDigest(plain)}]`;
}

/** As runs of older versions show it: `[IBAN]`. */
export function withoutDigest(placeholder: string): string {
  return placeholder.replace(/ .*/, ']');
}

/** Matches the placeholders of the built-in kinds, of these patterns, and of the kinds of these, whatever an edit made of them. */
export function placeholdersNamed(names: readonly string[], more: readonly string[]): RegExp {
  const all = [...sensitiveKinds.map(placeholderOf), tooMuch, ...names.map(placeholderOf), ...more.map(withoutDigest)];
  const kinds = new Set(all.map((each) => each.slice(1, -1).replace(/\W/g, String.raw`\$&`)));
  return new RegExp(String.raw`\[(?:${[...kinds].join('|')})(?: […·][^[\]\n]{0,20})?\]`, 'g');
}
