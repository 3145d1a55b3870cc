import type { Policy, Rule } from './policy.ts';

/** What a tool's worker cannot know of the run that sends it a call; in conditions (policy section 1). */
const unknownThere = /\b(metadata|counts|severity)\b/;

/**
 * The ceiling as the second gate applies it. A rule whose condition looks at what only the run knows might match or
 * not, so it stands there as an ask: it lifts a deny before it, as it may have done in the run, and denies nothing.
 */
export function knownCeiling(ceiling: Policy): Policy {
  return { ...ceiling, rules: ceiling.rules.map(knownRule) };
}

function knownRule({ when, ...rule }: Rule): Rule {
  if (when === undefined) return rule;
  return unknownThere.test(when) ? { ...rule, action: 'ask' } : { ...rule, when };
}
