import { sensitiveKinds } from '../redact/kinds.ts';
import type { RedactionSettings } from '../redact/redaction.ts';
import { limitsOf } from './limits.ts';
import type { ApprovalSettings, Policy, PolicyLayers, RedactSettings } from './policy.ts';

/**
 * What is redacted for a run's reviewers (docs/policy-reference.md); undefined if nothing is. The kinds, patterns and
 * names of all layers add up, so only the outermost layer (the ceiling, if any) can leave out a built-in kind.
 */
export function redactionSettings(layers: PolicyLayers): RedactionSettings | undefined {
  if (!limitsOf(layers).redact) return undefined;
  const { ceiling, parents = [], run } = layers;
  const outermost = ceiling ?? parents[0] ?? run;
  const all = [ceiling, ...parents, run].flatMap((policy) => policy?.redact ?? []);
  const kinds = new Set([...(outermost?.redact?.kinds ?? sensitiveKinds), ...all.flatMap((each) => each.kinds ?? [])]);
  const patterns = new Map(
    all.flatMap((each) => each.patterns.map((one) => [JSON.stringify([one.name, one.pattern]), one])),
  );
  // Without repetitions, and kinds in a fixed order, because the run records the digest of the settings.
  return {
    kinds: sensitiveKinds.filter((kind) => kinds.has(kind)),
    patterns: [...patterns.values()],
    also: [...new Set(all.flatMap((each) => each.also ?? []))],
  };
}

/** The settings of a ceiling that determine which built-in kinds are redacted; absent members have their defaults. */
export type CeilingRedaction = Pick<ApprovalSettings, 'redact'> & Pick<RedactSettings, 'kinds'>;

export function ceilingRedaction({ approval, redact }: Policy): CeilingRedaction {
  return { redact: approval.redact, kinds: redact?.kinds };
}
