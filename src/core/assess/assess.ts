/** How bad one call would be: the policy's `assess:` rules, the built-in assessors, and others (policy section 5). */
import { assessBuiltIn } from './built-in.ts';
import { assessRecorded } from './recorded.ts';
import type { CompiledAssessRule } from './rule.ts';
import type { Assessment } from './assessment.ts';
import type { AssessedCall } from './call-view.ts';

/**
 * Assesses a call by rules, the built-in assessors and what others said of it (`extra`). The most severe counts, with
 * all reasons. Nothing is below what the tool's risk says, except where a rule that may lower it says so and nobody else
 * says more. The order of rules and of `extra` does not matter. Pure, total, bounded.
 */
export function assess(
  call: AssessedCall,
  rules: readonly CompiledAssessRule[] = [],
  extra: readonly Assessment[] = [],
): Assessment {
  const builtIn = assessBuiltIn(call);
  return assessRecorded(call, rules, builtIn === undefined ? extra : [builtIn, ...extra]);
}
