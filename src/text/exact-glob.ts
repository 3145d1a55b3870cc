import type { Json } from '../core/base/tool-call.ts';
import { compileFieldGlob } from '../core/match/matching.ts';
import { writeCanonicalJson } from '../core/base/canonical-json.ts';

/**
 * Returns the glob that matches this value and no other; undefined if the value is empty or too long. Texts that are
 * equal in NFC count as one value, and so do a text and a JSON value that is written like it.
 *
 * @example
 * exactGlob('a*b'); // => 'a[*]b'
 * exactGlob(20); // => '20'
 */
export function exactGlob(value: Json): string | undefined {
  const written = typeof value === 'string' ? { text: value } : writeCanonicalJson(value);
  if ('problem' in written) return undefined;
  // A glob must not begin or end with a blank, so such a blank is written as a class.
  const glob = written.text.replace(/[*?[]/g, '[$&]').replace(/^\s|\s$/g, '[$&]');
  return 'problem' in compileFieldGlob(glob) ? undefined : glob;
}
