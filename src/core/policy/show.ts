/**
 * Which arguments of a waiting call can be read without a worker: those that the tool's `show` and the policies' `show`
 * name (docs/policy.md).
 */
import { compileGlob, globMatches, globSubject } from '../match/glob.ts';
import type { PolicyLayers, Show } from './policy.ts';
import { nfc } from '../base/normal-text.ts';

/** The names to show of a call of `tool`, the tool's own first. `declared`: the tool's `show`. */
export function namesToShow(layers: PolicyLayers, tool: string, declared: readonly string[] = []): string[] {
  const { ceiling, parents = [], run } = layers;
  const settings = [ceiling, ...parents, run].flatMap((policy) => policy?.approval ?? []);
  if (settings.some(({ show, includeArguments }) => show === false || includeArguments === false)) return [];
  const subject = globSubject(nfc(tool));
  const ofPolicies = settings.flatMap(({ show }) =>
    Object.entries(show || {}).flatMap(([pattern, names]) => {
      const glob = compileGlob(pattern);
      // A glob that does not compile matches nothing: policies are checked when they load.
      return !('problem' in glob) && globMatches(glob, subject) === true ? names : [];
    }),
  );
  return [...new Set([...declared, ...ofPolicies])];
}

/** Both policies' names; false if either says false. */
export function mergeShow(one: Show | undefined, other: Show | undefined): Show | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one === false || other === false) return false;
  const union = (pattern: string): string[] => [...new Set([...ownOf(one, pattern), ...ownOf(other, pattern)])];
  return Object.fromEntries([...Object.keys(one), ...Object.keys(other)].map((pattern) => [pattern, union(pattern)]));
}

function ownOf(show: Exclude<Show, false>, pattern: string): readonly string[] {
  return Object.hasOwn(show, pattern) ? show[pattern]! : [];
}
