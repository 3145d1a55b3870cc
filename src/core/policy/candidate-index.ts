/**
 * Finds, among many rules for one tool, those whose `name:args` pattern may match a text, without trying each one. Any
 * text that a glob matches contains the glob's literals. So each rule is filed under four consecutive characters of its
 * literals, those that the fewest rules share, and a text looks up every four consecutive characters it contains. A
 * rule that is left out cannot match.
 */
import { maxMatchWork, type GlobSubject } from '../match/glob.ts';
import type { compilePattern } from '../match/matching.ts';

interface Patterned {
  rule: { pattern: ReturnType<typeof compilePattern> };
}

export interface CandidateIndex<Candidate> {
  /** Candidates that may match, in order; undefined if trying all is as fast, or is needed to report a problem. */
  mayMatch: (text: GlobSubject) => readonly Candidate[] | undefined;
}

/** Below this number of rules, trying each one is faster. */
const fewest = 16;
const width = 4;

export function indexCandidates<Candidate extends Patterned>(
  candidates: readonly Candidate[],
): CandidateIndex<Candidate> | undefined {
  if (candidates.length < fewest) return undefined;
  const keysOf = candidates.map((candidate) => (candidate.rule.pattern.args?.literals ?? []).flatMap(foursOf));
  const shared = new Map<number, number>();
  for (const keys of keysOf) for (const key of new Set(keys)) shared.set(key, (shared.get(key) ?? 0) + 1);
  const always: number[] = [];
  const filed = new Map<number, number[]>();
  let longest = 0;
  for (const [position, keys] of keysOf.entries()) {
    longest = Math.max(longest, candidates[position]!.rule.pattern.args?.source.length ?? 0);
    if (keys.length === 0) {
      always.push(position);
      continue;
    }
    const rarest = keys.reduce((best, key) => (shared.get(key)! < shared.get(best)! ? key : best));
    const positions = filed.get(rarest);
    if (positions === undefined) filed.set(rarest, [position]);
    else positions.push(position);
  }
  if (filed.size === 0) return undefined;
  return {
    mayMatch: (text) => {
      // The text of a list is not that of its elements: a quote in one of them is written otherwise.
      if ('problem' in text || text.list !== undefined) return undefined;
      const { mapped } = text;
      if (mapped.length > candidates.length || mapped.length * longest > maxMatchWork) return undefined;
      const found = [...always];
      const seen = new Set<number>();
      for (const key of foursOf(mapped)) {
        const positions = filed.get(key);
        if (positions === undefined || seen.has(key)) continue;
        seen.add(key);
        found.push(...positions);
      }
      return found.toSorted((one, other) => one - other).map((position) => candidates[position]!);
    },
  };
}

/** Every four consecutive characters as one number; different fours may give the same number. */
function foursOf(text: string): number[] {
  const keys: number[] = [];
  let key = 0;
  for (let index = 0; index < text.length; index += 1) {
    key = (key << 8) ^ (text.charCodeAt(index) & 0xff);
    if (index >= width - 1) keys.push(key);
  }
  return keys;
}
