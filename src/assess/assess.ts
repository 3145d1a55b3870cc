import { assessRecorded } from '../core/policy/recorded-assessment.ts';
import type { CompiledAssessRule } from '../core/policy/assess-rules.ts';
import type { Assessment, AssessedCall } from '../core/assess/assessment.ts';
import { mostAffected, joinAssessments, moreSevere } from '../core/assess/assessment.ts';
import { assessCommands } from './commands.ts';
import { assessFiles } from './files.ts';
import { assessMessages } from './messages.ts';
import { assessMoney } from './money.ts';
import { assessNetwork } from './network.ts';
import { assessDatabases } from './statements.ts';
import { viewCall, type CallView, assessmentOf, type Finding } from './finding.ts';

/**
 * Assesses a call by `rules`, the built-in assessors and the `extra` assessments (docs/assessment.md). The result has
 * the highest severity and all reasons. It is never below the risk of the tool, unless a rule that may lower it matches
 * and no other finding is more severe. Pure, bounded in time; never throws.
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

// docs/assessment.md has the tables of these assessors.

const assessors: readonly ((view: CallView) => Finding[])[] = [
  assessFiles,
  assessCommands,
  assessDatabases,
  assessNetwork,
  assessMoney,
  assessMessages,
];

const notWhole: Finding = {
  severity: 'high',
  reason: 'the arguments are too deep or too many to be assessed',
  reversible: false,
};

/**
 * Returns what the built-in assessors find, or undefined if they find nothing. They recognise effects by the names of
 * tools and arguments, and can only raise the severity. Pure, bounded in time; never throws.
 */
export function assessBuiltIn(call: AssessedCall): Assessment | undefined {
  const view = viewCall(call);
  const findings = [...(view.whole ? [] : [notWhole]), ...assessors.flatMap((assessor) => assessor(view))];
  if (findings.length === 0) return undefined;
  return joinAssessments(merge(findings).map(assessmentOf));
}

/** Merges the findings with one reason into one finding, because each path of a long list gives the same finding. */
function merge(findings: readonly Finding[]): Finding[] {
  return [...Map.groupBy(findings, ({ reason }) => reason).values()].map((alike) => ({
    ...alike[0]!,
    severity: alike.map(({ severity }) => severity).reduce(moreSevere),
    reversible: alike.every(({ reversible }) => reversible !== false),
    affected: [...new Set(alike.flatMap(({ affected = [] }) => affected))].slice(0, mostAffected),
  }));
}
