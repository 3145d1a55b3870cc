/** Searches texts for a policy's own patterns with RE2, whose time is linear in the text's length for any pattern. */
import { RE2JS } from 're2js';
import { type FindMore, type Span, Taken } from '../core/redact/find-sensitive.ts';
import { expressionSize } from '../core/match/expression-size.ts';
import { tooMuch, valuePlaceholder } from '../core/redact/kinds.ts';
import type { OwnPattern } from '../core/redact/redaction.ts';

/** The longest piece of a text that RE2 gets: after each match, RE2 may search the rest of the piece again. */
const pieceLength = 20_000;
/** How far pieces overlap. Of a longer match at the end of a piece, only the part in the piece may be found. */
const overlap = 1_000;
/** The most work for one call: characters searched times the patterns' `expressionSize`, each at most 13 ns. */
const mostSearched = 200_000_000;
const mostMatches = 2_000;

export function patternProblem(pattern: string): string | undefined {
  const compiled = compile(pattern);
  if (compiled === undefined) {
    return 'is not a regular expression in RE2 syntax, which has no look-around and no back-references';
  }
  return compiled.matcher('').find() ? 'matches the empty text, so it would match everywhere' : undefined;
}

/**
 * Returns a search for matches of the patterns. Make one for all texts of a call, because it bounds the work of all. A
 * text beyond the limits is one span, as is every text if a pattern does not compile: policies are checked at loading.
 */
export function findOwn(patterns: readonly OwnPattern[]): FindMore | undefined {
  if (patterns.length === 0) return undefined;
  const compiled = patterns.map(({ name, pattern }) => ({ name, re: compile(pattern) }));
  const sizes = patterns.reduce((sum, { pattern }) => sum + expressionSize(pattern), 0);
  let [searched, matches] = [0, 0];
  return (text) => {
    searched += text.length * sizes;
    // Each span holds the pattern's name until `taken` has settled where the span ends. Then the placeholder is made.
    const taken = new Taken(text);
    for (const { name, re } of compiled) {
      let from = 0;
      while (from < text.length) {
        if (re === undefined || searched > mostSearched) return [[0, text.length, tooMuch]];
        const isLast = from + pieceLength >= text.length;
        // A match in the overlap may be cut here, and the next piece has it whole.
        const end = isLast ? text.length : from + pieceLength - overlap;
        // The character before the piece decides whether a word begins at the piece.
        const before = Math.max(0, from - 1);
        const matcher = re.matcher(text.slice(before, from + pieceLength));
        let next = end;
        for (let found = matcher.find(from - before); found; found = matcher.find()) {
          if (before + matcher.start() >= end) break;
          if (matches > mostMatches) return [[0, text.length, tooMuch]];
          matches += 1;
          taken.add([before + matcher.start(), before + matcher.end(), name]);
          next = Math.max(end, before + matcher.end());
        }
        from = next;
      }
    }
    return taken.inOrder().map(([start, end, name]): Span => {
      return [start, end, valuePlaceholder(name, text.slice(start, end))];
    });
  };
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}
