import type { Span } from './find-sensitive.ts';
import { placeholderOf } from './kinds.ts';

/** Between the lines of a key: line ends, also as they are written in source text, in quotes and in comments. */
const between = String.raw`(?:\\{1,4}[nr]|[\s"',+>#]){1,40}`;
const line = '[A-Za-z0-9+/=]{32,}';
const header = String.raw`(?:Proc-Type|DEK-Info|Version|Hash|Charset): [\w.,/() -]{1,80}`;
/** What of a text after the beginning of a key can be one: long lines of base64, then a shorter one before its end. */
const keyText = new RegExp(
  String.raw`^-----BEGIN [A-Z0-9 ]{0,60}-----(?:${line})?(?:${between}(?:${line}|${header}))*` +
    String.raw`(?:(?:${between}[A-Za-z0-9+/=]{1,76})?(?:${between})?-----END [A-Z0-9 ]{0,60}-----)?`,
);
/** Lines of a key, all but the last as long as a key's are. */
const wholeKey =
  /^-----BEGIN [A-Z0-9 ]+-----(?:\s|\\n)+(?:[A-Za-z0-9+/=]{60,76}(?:\s|\\n)+)*[A-Za-z0-9+/=]{1,76}(?:\s|\\n)+-----END [A-Z0-9 ]+-----$/;
/** What a shell would run, or a line of its own. */
const runs = /[\n\r`]|\$\(/;

/**
 * The spans of a text without what could be the action of a call: the lines after `# password="`, the rest of a file after the
 * first line of a key. `isStatement`: something runs the text, as in `password="'; DROP TABLE users; --"`, so less of it is hidden.
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

/** In a statement, what looks like a secret may be part of what it does. */
function isPlainSecret(hidden: string): boolean {
  const [quote] = hidden;
  const isQuoted = (quote === '"' || quote === "'") && hidden.length > 1 && hidden.endsWith(quote);
  const written = isQuoted ? hidden.slice(1, -1) : hidden;
  // Without quotes or digits it is the name of something: `WHERE password=password`.
  return !/[\s;'"`()*|\\]|--/.test(written) && (isQuoted || /\d/.test(written));
}
