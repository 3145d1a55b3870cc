import type { Span } from './find-sensitive.ts';
import { placeholderOf } from './kinds.ts';

/**
 * Matches the text between the lines of a key: line ends, also as they are written in source text, in quotes and in
 * comments.
 */
const between = String.raw`(?:\\{1,4}[nr]|[\s"',+>#]){1,40}`;
const line = '[A-Za-z0-9+/=]{32,}';
const header = String.raw`(?:Proc-Type|DEK-Info|Version|Hash|Charset): [\w.,/() -]{1,80}`;
/**
 * Matches as much of a text from the beginning of a key on as can be one: long lines of base64, then a shorter one
 * before the end line.
 */
const keyText = new RegExp(
  String.raw`^-----BEGIN [A-Z0-9 ]{0,60}-----(?:${line})?(?:${between}(?:${line}|${header}))*` +
    String.raw`(?:(?:${between}[A-Za-z0-9+/=]{1,76})?(?:${between})?-----END [A-Z0-9 ]{0,60}-----)?`,
);
/** Matches a whole key: all its lines but the last have the length that keys have. */
const wholeKey =
  /^-----BEGIN [A-Z0-9 ]+-----(?:\s|\\n)+(?:[A-Za-z0-9+/=]{60,76}(?:\s|\\n)+)*[A-Za-z0-9+/=]{1,76}(?:\s|\\n)+-----END [A-Z0-9 ]+-----$/;
/** Matches text that a shell would run, or that contains a line end. */
const runs = /[\n\r`]|\$\(/;

/**
 * The spans of a text without parts that could be what a call does, such as the lines after `# password="`, or the rest
 * of a file after the first line of a key. `isStatement`: the text is run as code, as in `password="'; DROP TABLE
 * users; --"`, so less of it is hidden.
 */
export function withoutActions(text: string, spans: readonly Span[], isStatement = false): Span[] {
  return spans.flatMap((span): Span[] => {
    const [start, end, placeholder] = span;
    const hidden = text.slice(start, end);
    if (placeholder === placeholderOf('PRIVATE_KEY')) {
      if (isStatement) return wholeKey.test(hidden) ? [span] : [];
      return [[start, start + (keyText.exec(hidden)?.[0].length ?? 0), placeholder]];
    }
    if (placeholder !== placeholderOf('PASSWORD')) return [span];
    return (isStatement ? isPlainSecret(hidden) : !runs.test(hidden)) ? [span] : [];
  });
}

/** False for a part of a statement that may be code and only looks like a secret. */
function isPlainSecret(hidden: string): boolean {
  const [quote] = hidden;
  const isQuoted = (quote === '"' || quote === "'") && hidden.length > 1 && hidden.endsWith(quote);
  const written = isQuoted ? hidden.slice(1, -1) : hidden;
  // A word without quotes and digits is an identifier: `WHERE password=password`.
  return !/[\s;'"`()*|\\]|--/.test(written) && (isQuoted || /\d/.test(written));
}
