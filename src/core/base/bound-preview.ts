/** A binding preview: an approved call starts only if a new preview has the facts that the reviewers saw. */
import { jsonDigest } from './digest.ts';
import { isObject } from './json.ts';
import { isWellFormed } from './text.ts';
import type { Json } from './tool-call.ts';

/** The facts of a preview that an approval binds. */
export type BoundFacts = {
  /** SHA-256 of the canonical JSON of everything that the approval binds, in 64 hex characters. */
  digest: string;
  /** The facts as texts, by name. A long text becomes its length: redaction finds no hidden value in a cut text. */
  facts: Record<string, string>;
};

/** `pending`: the preview is not finished. `unknown`: it failed, or its facts vary. `hidden`: the policy hides it. */
export type BoundPreview = BoundFacts | 'pending' | 'unknown' | 'hidden';

/** False, so that the request cannot be approved, while a preview that reviewers have to see is not finished. */
export function isPreviewed({ bound, hidden }: { bound?: BoundPreview; hidden?: true }): boolean {
  return bound !== 'pending' || hidden === true;
}

const mostFacts = 20;
const longestName = 200;
const longestFact = 80;
const mostDifferences = 10;

/** The facts that an approval binds: the digest of all of `bound`, and up to 20 `facts` as short texts for people. */
export function boundFacts(bound: Json, facts: Readonly<Record<string, Json>>): BoundFacts {
  const named = Object.entries(facts).filter(([name]) => name.length <= longestName);
  const inWords = named.slice(0, mostFacts).map(([name, fact]) => [name, textOf(fact)]);
  return { digest: jsonDigest(bound), facts: Object.fromEntries(inWords) as Record<string, string> };
}

/** True for facts as `boundFacts` makes them. A run checks them, because any process can send facts. */
export function isBoundFacts(value: unknown): value is BoundFacts {
  if (!isObject(value)) return false;
  const { digest, facts } = value;
  if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest) || !isObject(facts)) return false;
  const entries = Object.entries(facts);
  return (
    entries.length <= mostFacts &&
    entries.every(([name, fact]) => name.length <= longestName && isWellFormed(fact) && fact.length <= longestFact)
  );
}

/**
 * What has changed, one text for each fact, such as `rows: 60 → 90`; the first ten, then how many are left out. Empty
 * if nothing has. One sentence if only the digests differ, which also cover what the facts do not show.
 */
export function factsChanged(before: BoundFacts, now: BoundFacts): string[] {
  if (before.digest === now.digest) return [];
  const names = [...new Set([...Object.keys(before.facts), ...Object.keys(now.facts)])];
  const differences = names.flatMap((name) => {
    const [was, is] = [factOf(before, name), factOf(now, name)];
    if (was === is) return [];
    if (was === undefined) return [`${name}: new, ${is}`];
    return [is === undefined ? `${name}: was ${was}, and is gone` : `${name}: ${was} → ${is}`];
  });
  if (differences.length === 0) return ['Something changed that these facts do not name: see what would change'];
  const left = differences.length - mostDifferences;
  return left > 0 ? [...differences.slice(0, mostDifferences), `and ${left} more`] : differences;
}

function factOf({ facts }: BoundFacts, name: string): string | undefined {
  return Object.hasOwn(facts, name) ? facts[name] : undefined;
}

function textOf(fact: Json): string {
  const text = typeof fact === 'string' ? fact : JSON.stringify(fact);
  return text.length <= longestFact ? text : `${text.length} characters`;
}
