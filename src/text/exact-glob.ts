import type { Json } from '../core/base/tool-call.ts';
import { compileFieldGlob } from '../core/match/matching.ts';
import { writeCanonicalJson } from '../core/base/canonical-json.ts';

/**
 * The glob that matches this value of an argument and no other; undefined if none can be written, because the value is
 * empty or too long. Texts that are equal in NFC are one value, and so are a text and the JSON value with the same
 * text.
 *
 * @example
 * exactGlob('a*b'); // => 'a[*]b'
 * exactGlob(20); // => '20'
 */
export function exactGlob(value: Json): string | undefined {
  const written = typeof value === 'string' ? { text: value } : writeCanonicalJson(value);
  if ('problem' in written) return undefined;
  // Blanks at the ends are refused in a glob, so there they are in a class.
  const glob = written.text.replace(/[*?[]/g, '[$&]').replace(/^\s|\s$/g, '[$&]');
  return 'problem' in compileFieldGlob(glob) ? undefined : glob;
}
