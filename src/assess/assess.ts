/** How severe a call is, by the policy's `assess:` rules, the built-in assessors, and others (docs/assessment.md). */
import { assessBuiltIn } from './built-in.ts';
import { assessRecorded } from '../core/policy/recorded-assessment.ts';
import type { CompiledAssessRule } from '../core/policy/assess-rules.ts';
import type { Assessment, AssessedCall } from '../core/assess/assessment.ts';

/**
 * Assesses a call by rules, the built-in assessors and the results of others (`extra`). The most severe counts, with
 * all reasons. The result is never below the severity of the tool's risk, unless a rule that may lower it matches and
 * nothing else says more. The order of rules and of `extra` does not matter. Pure and bounded; never throws.
 *
 * @example
 * ```ts
 * import { assess } from 'countersign';
 *
 * const { severity, reasons } = assess({ tool: 'read_file', args: { path: '/etc/shadow' }, risk: 'read_only' });
 * console.log(severity, reasons[0]); // high the path holds credentials
 * ```
 */
export function assess(
  call: AssessedCall,
  rules: readonly CompiledAssessRule[] = [],
  extra: readonly Assessment[] = [],
): Assessment {
  const builtIn = assessBuiltIn(call);
  return assessRecorded(call, rules, builtIn === undefined ? extra : [builtIn, ...extra]);
}
