import { TextSearch } from '../base/text.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { type Span, Taken, withPlaceholders } from './find-sensitive.ts';
import { mostSpans, tooMuch } from './kinds.ts';
import { leavesOf, type Leaf, valueAt, type RedactedValue, type Redaction } from './redaction.ts';

/** Joins redactions of the same arguments, so that all that either hides stays hidden. The digests are those of `one`. */
export function joinRedactions(one: Redaction, other: Redaction | undefined): Redaction {
  if (other === undefined) return one;
  const byPath = new Map(one.values.map((value) => [JSON.stringify(value.path), value]));
  for (const { path, spans } of other.values) {
    const key = JSON.stringify(path);
    byPath.set(key, { path, spans: joinedSpans([...(byPath.get(key)?.spans ?? []), ...spans]) });
  }
  return { ...one, kinds: [...new Set([...one.kinds, ...other.kinds])], values: [...byPath.values()] };
}

/**
 * The spans in the order of the text. A span within another goes with it, and of equal ones the later. Spans that cross
 * become one of no kind, because the placeholder of neither stands for what both hide.
 */
function joinedSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.toSorted(([start, end], [nextStart, nextEnd]) => start - nextStart || nextEnd - end)) {
    const last = joined.at(-1);
    if (last === undefined || last[1] <= span[0]) joined.push(span);
    else if (last[1] < span[1]) joined[joined.length - 1] = [last[0], span[1], tooMuch];
  }
  return joined;
}

/** A redaction that hides every text and number, for arguments that were not searched. */
export function wholeRedaction(args: JsonObject): Redaction {
  const values = leavesOf(args).map(({ path, text }): RedactedValue => ({ path, spans: [[0, text.length, tooMuch]] }));
  return { settings: '', patterns: '', kinds: [], values: values.filter(({ spans: [span] }) => span![1] > 0) };
}

/** The most work of `sameTexts`, in characters compared. Workflow code has two seconds. */
const mostCompared = 50_000_000;
/** What one comparison costs in addition to its characters. */
const leafCost = 50;

/** The parts of `args` that repeat hidden texts (short ones at their path only); all if that takes too long. */
export function sameTexts(args: JsonObject, original: JsonObject, values: readonly RedactedValue[]): RedactedValue[] {
  const hidden = hiddenTexts(original, values);
  const leaves = leavesOf(args);
  const cost = leaves.reduce((sum, { text }) => sum + text.length + leafCost, 0);
  if (cost * hidden.length > mostCompared) return [...wholeRedaction(args).values];
  return leaves.flatMap((leaf): RedactedValue[] => {
    const spans = withoutOverlaps(
      leaf.text,
      hidden.flatMap((each) => occurrences(leaf, each)),
    );
    if (spans.length > mostSpans) return [{ path: leaf.path, spans: [[0, leaf.text.length, tooMuch]] }];
    return spans.length === 0 ? [] : [{ path: leaf.path, spans }];
  });
}

/** Hides in a text what `values` hide, even if the text was cut within a hidden text. Short hidden texts stay. */
export function withoutHidden(text: string, args: JsonObject, values: readonly RedactedValue[]): string {
  const hidden = longTexts(args, values);
  return withoutBeginning(withoutTexts(text, hidden), hidden);
}

const cutMark = '…';

/** If the text was cut within a hidden text, replaces the beginning of the hidden text at its end. */
function withoutBeginning(text: string, hidden: readonly HiddenText[]): string {
  if (!text.endsWith(cutMark)) return text;
  const end = text.length - cutMark.length;
  for (const { secret, placeholder } of hidden) {
    const beginning = secret.slice(0, leastHidden);
    for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) {
      if (secret.startsWith(text.slice(at, end))) return withPlaceholders(text, [[at, end, placeholder]]);
    }
  }
  return text;
}

/** Returns a function that hides the hidden texts in each text of `value`; undefined if that takes too long. */
export function hiderIn(
  value: Json,
  args: JsonObject,
  values: readonly RedactedValue[],
): ((text: string) => string) | undefined {
  const texts = leavesOf(value).map(({ text }) => text);
  const all = texts.join('\n');
  const inside = textsIn(all, longTexts(args, values));
  if (inside === undefined) return undefined;
  if (inside.length * (all.length + texts.length * leafCost) > mostCompared) return undefined;
  return (text) => withoutTexts(text, inside);
}

function withoutTexts(text: string, hidden: readonly HiddenText[]): string {
  return hidden.reduce((shown, each) => withPlaceholders(shown, each.spansIn(shown)), text);
}

/** The most comparisons of `textsIn`. A hundred characters of a hidden text count as one more. */
const mostCandidates = 300_000;

/** The hidden texts that occur in `text`, found in one pass; undefined if too many of them begin alike. */
function textsIn(text: string, hidden: readonly HiddenText[]): HiddenText[] | undefined {
  const byBeginning = Map.groupBy(new Set(hidden.map(({ secret }) => secret)), (secret) =>
    secret.slice(0, leastHidden),
  );
  const found = new Set<string>();
  let comparisonsLeft = mostCandidates;
  for (let at = 0; at + leastHidden <= text.length; at++) {
    for (const secret of byBeginning.get(text.slice(at, at + leastHidden)) ?? []) {
      if (found.has(secret)) continue;
      comparisonsLeft -= 1 + secret.length / 100;
      if (comparisonsLeft < 0) return undefined;
      if (text.startsWith(secret, at)) found.add(secret);
    }
  }
  return hidden.filter(({ secret }) => found.has(secret));
}

/** The hidden texts that are long enough to be replaced wherever they occur. */
function longTexts(args: JsonObject, values: readonly RedactedValue[]): HiddenText[] {
  return hiddenTexts(args, values).filter(({ secret }) => secret.length >= leastHidden);
}

/** The length from which a hidden text is replaced wherever it occurs. Shorter ones occur everywhere. */
export const leastHidden = 4;

/** A text that reviewers do not see, and the search for it in other texts. */
export class HiddenText {
  /** The path, as JSON, of the value in which the text is hidden. */
  readonly path: string;
  readonly secret: string;
  readonly placeholder: string;
  readonly #search: TextSearch;

  constructor(path: string, secret: string, placeholder: string) {
    this.path = path;
    this.secret = secret;
    this.placeholder = placeholder;
    this.#search = new TextSearch(secret);
  }

  spansIn(text: string): Span[] {
    return this.#search.places(text).map((at): Span => [at, at + this.secret.length, this.placeholder]);
  }

  /** The length of the longest end of `text` with which the hidden text begins. */
  overlap(text: string): number {
    return this.#search.overlap(text);
  }
}

/** The texts that the values hide: each text once for each path, longest texts first. */
export function hiddenTexts(args: Json, values: readonly RedactedValue[]): HiddenText[] {
  const all = values.flatMap(({ path, spans }) => {
    const text = valueAt(args, path);
    if (typeof text !== 'string' && typeof text !== 'number') return [];
    const key = JSON.stringify(path);
    return spans.map(([start, end, placeholder]) => new HiddenText(key, String(text).slice(start, end), placeholder));
  });
  const once = new Map(all.map((each) => [`${each.path} ${each.secret}`, each]));
  return [...once.values()].sort((one, other) => other.secret.length - one.secret.length);
}

function occurrences({ path, text }: Leaf, hidden: HiddenText): Span[] {
  return hidden.secret.length < leastHidden && JSON.stringify(path) !== hidden.path ? [] : hidden.spansIn(text);
}

/** The spans in the order of the text. Of spans that overlap, the first in the given list counts. */
function withoutOverlaps(text: string, spans: readonly Span[]): Span[] {
  const taken = new Taken(text);
  for (const span of spans) taken.add(span);
  return taken.inOrder();
}
