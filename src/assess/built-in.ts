/** The built-in assessors. Their tables are in docs/assessment.md. */
import { assessCommands } from './commands.ts';
import { assessFiles } from './files.ts';
import { assessMessages } from './messages.ts';
import { assessMoney } from './money.ts';
import { assessNetwork } from './network.ts';
import { assessDatabases } from './statements.ts';
import {
  mostAffected,
  joinAssessments,
  moreSevere,
  type Assessment,
  type AssessedCall,
} from '../core/assess/assessment.ts';
import { viewCall, type CallView } from './call-view.ts';
import { assessmentOf, type Finding } from './finding.ts';

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
 * The findings of the built-in assessors in a call, joined; undefined if there are none. They recognise what a tool
 * does by its name and by the names of its arguments, and can only raise a severity. Pure and bounded; never throws.
 */
export function assessBuiltIn(call: AssessedCall): Assessment | undefined {
  const view = viewCall(call);
  const findings = [...(view.whole ? [] : [notWhole]), ...assessors.flatMap((assessor) => assessor(view))];
  if (findings.length === 0) return undefined;
  return joinAssessments(merge(findings).map(assessmentOf));
}

/** One finding for each reason: a long list of files gives the same one again and again. */
function merge(findings: readonly Finding[]): Finding[] {
  const byReason = new Map<string, { finding: Finding; affected: Set<string> }>();
  for (const finding of findings) {
    const { finding: known, affected } = byReason.get(finding.reason) ?? { finding, affected: new Set<string>() };
    for (const resource of finding.affected ?? []) if (affected.size < mostAffected) affected.add(resource);
    const severity = moreSevere(known.severity, finding.severity);
    const reversible = known.reversible !== false && finding.reversible !== false;
    byReason.set(finding.reason, { finding: { ...known, severity, reversible }, affected });
  }
  return [...byReason.values()].map(({ finding, affected }) => ({ ...finding, affected: [...affected] }));
}
