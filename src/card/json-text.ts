import { isTooDeep, writeCanonicalJson } from '../core/base/canonical-json.ts';
import type { Json } from '../core/base/tool-call.ts';
import { visibleJson } from '../text/visible-text.ts';

/** Deeper values are written without recursion. */
const safeDepth = 500;

/** Canonical JSON of any value, made visible with JSON's own escapes. Never throws. */
export function jsonText(value: Json): string {
  const written = writeCanonicalJson(value);
  if ('text' in written) return visibleJson(written.text);
  return visibleJson(isTooDeep(value, safeDepth) ? deepJson(value) : JSON.stringify(value));
}

/** JSON of a value that is nested too deeply to recurse into. */
function deepJson(root: Json): string {
  let text = '';
  const left: ({ value: Json } | { text: string })[] = [{ value: root }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if ('text' in next) text += next.text;
    else if (typeof next.value !== 'object' || next.value === null) text += JSON.stringify(next.value);
    else {
      const isList = Array.isArray(next.value);
      const members = Object.entries(next.value).map(([key, value], index) => [
        { text: `${index === 0 ? '' : ','}${isList ? '' : `${JSON.stringify(key)}:`}` },
        { value },
      ]);
      left.push({ text: isList ? ']' : '}' }, ...members.flat().toReversed(), { text: isList ? '[' : '{' });
    }
  }
  return text;
}
