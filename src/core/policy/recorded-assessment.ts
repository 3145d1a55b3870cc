/** The part of an assessment that a run computes itself: small enough for the workflow, without tables that change. */
import {
  defaultAssessment,
  joinAssessments,
  moreSevere,
  mostAffected,
  severityOf,
  severityRank,
  wantsApproval,
  type Assessment,
} from '../assess/assessment.ts';
import type { AssessedCall } from '../assess/assessed-call.ts';
import { callSubjects } from '../match/matching.ts';
import type { RulingMeter } from '../match/ruling-meter.ts';
import type { Json } from '../base/tool-call.ts';
import type { LayerCall } from './layer-answer.ts';
import { asRule, matchAssessRule, type AssessMatch, type CompiledAssessRule } from './assess-rules.ts';
import { engine as currentEngine, readyCall } from './ruling.ts';

/**
 * Assesses a call like `assess`, but without the built-in assessors. Their results, and those of the worker's own, are
 * recorded with the call, so that they do not change with the code (I12). `engine`: the one that the run recorded.
 *
 * From engine 5 on, a rule is read as the policy's own rules are: to raise a severity it matches as a deny rule would, and to
 * lower one as an allow rule would.
 */
export function assessRecorded(
  call: AssessedCall,
  rules: readonly CompiledAssessRule[] = [],
  recorded: readonly Assessment[] = [],
  meter?: RulingMeter,
  engine = currentEngine,
): Assessment {
  const matched = matchAll(call, rules, engine, meter).filter(({ match }) => match !== 'no');
  const all = matched.map(({ rule, match }) => assessmentOfRule(rule, match, call.args));
  return joinAssessments([base(call, matched), ...all, ...recorded]);
}

interface Matched {
  rule: CompiledAssessRule;
  match: AssessMatch;
}

function matchAll(
  call: AssessedCall,
  rules: readonly CompiledAssessRule[],
  engine: number,
  meter?: RulingMeter,
): Matched[] {
  if (rules.length === 0) return [];
  const ready = readyCall(call, { engine }, meter);
  // Before engine 5, a list is one text.
  const all = engine < 5 ? callSubjects(call, 1, meter) : ready.subjects;
  let tooMuch = false;
  const afford = (work: number): boolean => {
    const affords = all.afford(work);
    tooMuch ||= !affords;
    return affords;
  };
  const subjects = { ...all, afford };
  const matched = rules.map((rule) => ({
    rule,
    match: engine < 5 ? matchAssessRule(rule, call, subjects) : matchAsRule(rule, { ...ready, subjects }),
  }));
  if (!tooMuch) return matched;
  // Which rules the budget would have covered depends on their order, so none of them counts.
  return rules.map((rule) => ({ rule, match: { problem: 'the arguments are too long for so many rules' } }));
}

/** A rule that may only lower the severity, and cannot be evaluated, lowers nothing. */
function matchAsRule(rule: CompiledAssessRule, call: LayerCall): AssessMatch {
  const { allows, denies } = asRule(rule);
  if (allows(call)) return 'all';
  const denied = denies(call);
  if (typeof denied === 'boolean') return denied ? 'part' : 'no';
  return severityRank(rule.severity) <= severityRank(severityOf(call.mode.risk)) ? 'no' : denied;
}

/** Returns the assessment by risk, or `safe` if a rule that may lower it matches. */
function base(call: AssessedCall, matched: readonly Matched[]): Assessment {
  const standard = defaultAssessment(call.risk);
  const lowering = matched.filter(({ rule, match }) => match === 'all' && !rule.raiseOnly).map(({ rule }) => rule);
  if (lowering.length === 0) return standard;
  return {
    ...standard,
    // The severity and the reasons of these rules come from their own assessments.
    severity: 'safe',
    reversible: standard.reversible || lowering.some(({ reversible }) => reversible === true),
    requiresApproval: false,
  };
}

function assessmentOfRule(rule: CompiledAssessRule, match: AssessMatch, args: AssessedCall['args']): Assessment {
  const {
    id,
    severity,
    affected = [],
    reversible = true,
    recommend,
    requiresApproval = wantsApproval(severity),
  } = rule;
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

/** One for each item of a list. Objects are not written out. */
function resourcesOf(name: string, value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    return value.slice(0, mostAffected).flatMap((item) => (Array.isArray(item) ? [] : resourcesOf(name, item)));
  }
  return typeof value === 'object' ? [`${name}:{…}`] : [`${name}:${value}`];
}
