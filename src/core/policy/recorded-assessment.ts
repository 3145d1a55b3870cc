import type { Assessment, AssessedCall } from '../assess/assessment.ts';
import {
  defaultAssessment,
  joinAssessments,
  moreSevere,
  mostAffected,
  severityOf,
  severityRank,
  wantsApproval,
} from '../assess/assessment.ts';
import type { RulingMeter } from '../match/ruling-meter.ts';
import type { Json } from '../base/tool-call.ts';
import type { LayerCall } from './layer-answer.ts';
import { asRule, type CompiledAssessRule } from './assess-rules.ts';
import { readyCall } from './ruling.ts';

/**
 * Assesses a call as `assess` does, but takes the results of the assessors from the record, so that new code changes
 * nothing (I12). A rule matches as a deny rule to raise a severity, and as an allow rule to lower it.
 */
export function assessRecorded(
  call: AssessedCall,
  rules: readonly CompiledAssessRule[] = [],
  recorded: readonly Assessment[] = [],
  meter?: RulingMeter,
): Assessment {
  const matched = matchAll(call, rules, meter).filter(({ match, isUnread }) => match !== 'no' || isUnread);
  const all = matched.flatMap(({ rule, match }) => (match === 'no' ? [] : [assessmentOfRule(rule, match, call.args)]));
  return joinAssessments([assessmentByRisk(call, matched), ...all, ...recorded]);
}

/** How an assess rule matches. `part`: it matches only a part of what would run, so it may only raise the severity. */
type AssessMatch = 'no' | 'part' | 'all' | { problem: string };

interface Matched {
  rule: CompiledAssessRule;
  match: AssessMatch;
  /** True: the rule cannot be evaluated, and cannot raise the severity by risk. `match` is `no`. */
  isUnread?: boolean;
}

/** How each assess rule matches a call. If the budget does not cover all rules, every rule has a problem instead. */
function matchAll(call: AssessedCall, rules: readonly CompiledAssessRule[], meter?: RulingMeter): Matched[] {
  if (rules.length === 0) return [];
  const ready = readyCall(call, {}, meter);
  let tooMuch = false;
  const afford = (work: number): boolean => {
    const isAffordable = ready.subjects.afford(work);
    tooMuch ||= !isAffordable;
    return isAffordable;
  };
  const subjects = { ...ready.subjects, afford };
  const matched = rules.map((rule) => ({ rule, ...matchAsRule(rule, { ...ready, subjects }) }));
  if (!tooMuch) return matched;
  // How many rules the budget covers depends on their order, so none of them counts.
  return rules.map((rule) => ({ rule, match: { problem: 'the arguments are too long for so many rules' } }));
}

/** How a rule matches a call. If it cannot be evaluated, it counts only if it could raise the severity. */
export function matchAsRule(rule: CompiledAssessRule, call: LayerCall): Pick<Matched, 'match' | 'isUnread'> {
  const { allows, denies } = asRule(rule);
  if (allows(call)) return { match: 'all' };
  const denied = denies(call);
  if (typeof denied === 'boolean') return { match: denied ? 'part' : 'no' };
  const isLowering = severityRank(rule.severity) <= severityRank(severityOf(call.mode.risk));
  return isLowering ? { match: 'no', isUnread: true } : { match: denied };
}

/** The assessment by risk. A matching rule may lower it to `safe`, or to the severity of rules that failed. */
function assessmentByRisk(call: AssessedCall, matched: readonly Matched[]): Assessment {
  const standard = defaultAssessment(call.risk);
  const lowering = matched.filter(({ rule, match }) => match === 'all' && !rule.raiseOnly).map(({ rule }) => rule);
  const unread = matched.filter(({ isUnread }) => isUnread).map(({ rule }) => rule);
  const isLowered = lowering.length > 0;
  return {
    ...standard,
    // `safe` by itself: `joinAssessments` adds the severities of the lowering rules from their own assessments.
    severity: isLowered ? unread.map(({ severity }) => severity).reduce(moreSevere, 'safe') : standard.severity,
    reversible:
      (standard.reversible || lowering.some(({ reversible }) => reversible === true)) &&
      !unread.some(({ reversible }) => reversible === false),
    requiresApproval:
      (!isLowered && standard.requiresApproval) || unread.some(({ requiresApproval }) => requiresApproval === true),
  };
}

/** The assessment by a rule that matched. If it cannot be evaluated: high severity, and approval is required. */
function assessmentOfRule(rule: CompiledAssessRule, match: AssessMatch, args: AssessedCall['args']): Assessment {
  const { id, severity, affected = [], reversible = true, recommend } = rule;
  const { requiresApproval = wantsApproval(severity) } = rule;
  const shared = { reversible, recommendations: recommend === undefined ? [] : [recommend] };
  if (typeof match === 'object') {
    // If a rule cannot be evaluated, the call is not taken for harmless (I2).
    const reasons = [`assess rule ${id} cannot be evaluated: ${match.problem}`];
    return {
      ...shared,
      severity: moreSevere(severity, 'high'),
      reasons,
      affectedResources: [],
      requiresApproval: true,
    };
  }
  return {
    ...shared,
    severity,
    reasons: [rule.reason ?? `assess rule ${id} says ${severity}`],
    affectedResources: affected.flatMap((name) =>
      resourcesOf(name, Object.hasOwn(args, name) ? args[name] : undefined),
    ),
    requiresApproval,
  };
}

/** The affected resources in an argument, one for each item of a list that is no list. An object becomes `{…}`. */
function resourcesOf(name: string, value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    return value.slice(0, mostAffected).flatMap((item) => (Array.isArray(item) ? [] : resourcesOf(name, item)));
  }
  return typeof value === 'object' ? [`${name}:{…}`] : [`${name}:${value}`];
}
