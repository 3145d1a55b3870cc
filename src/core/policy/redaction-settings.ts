import { sensitiveKinds } from '../redact/kinds.ts';
import type { RedactionSettings } from '../redact/redaction.ts';
import { limitsOf } from './limits.ts';
import type { ApprovalSettings, Policy, PolicyLayers, RedactSettings } from './policy.ts';

/**
 * What is redacted for a run's reviewers (docs/policy-reference.md); undefined if nothing is. The kinds, patterns and
 * names of all layers add up, but only the ceiling, if there is one, can leave out a built-in kind.
 */
export function redactionSettings(layers: PolicyLayers): RedactionSettings | undefined {
  if (!limitsOf(layers).redact) return undefined;
  const { ceiling, parents = [], run } = layers;
  const first = ceiling ?? parents[0] ?? run;
  const all = [ceiling, ...parents, run].flatMap((policy) => policy?.redact ?? []);
  const kinds = new Set([...(first?.redact?.kinds ?? sensitiveKinds), ...all.flatMap((each) => each.kinds ?? [])]);
  const patterns = new Map(
    all.flatMap((each) => each.patterns.map((own) => [JSON.stringify([own.name, own.pattern]), own])),
  );
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
