import { groupOf, personKey } from 'countersign/adapter';
import { looksLike, visibleText, nfc } from 'countersign/base';

const longest = 200;

/**
 * The name of a person as policies compare it, in NFC; or why a text cannot be one. A name in any script is one, with the
 * joiners that it is written with; one that mixes scripts, or that looks like a group's or a channel's, is refused.
 */
export function personName(
  value: unknown,
): { name: string; problem?: undefined } | { name?: undefined; problem: string } {
  if (typeof value !== 'string') return { problem: 'must be a text' };
  if (value.length > longest) return { problem: `must have at most ${longest} characters` };
  const name = nfc(value);
  if (name.trim() === '' || name.trim() !== name)
    return { problem: 'must not be empty, nor begin or end with a space' };
  if (groupOf(name) !== undefined) return { problem: 'must not begin with group:' };
  // `channel:NAME` is who answers for a channel.
  if (name.startsWith('channel:')) return { problem: 'must not begin with channel:' };
  if (!name.isWellFormed() || visibleText(name, { asName: true }) !== name)
    return { problem: 'must not have characters that are invisible or pass for those of another alphabet' };
  return { name };
}

/**
 * Finds among names that exist the one that another name is, in any spelling, or looks like. Undefined: none.
 */
export function namesakesAmong(known: readonly string[]): (name: string) => string | undefined {
  const byKey = new Map(known.map((name) => [personKey(name), name]));
  const byLook = new Map(known.map((name) => [looksLike(name), name]));
  return (name) => byKey.get(personKey(name)) ?? byLook.get(looksLike(name));
}
