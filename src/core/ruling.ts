/**
 * The ruling: a policy's answer to one call. Pure and total: no policy, call or text makes it throw.
 *
 * Inside a layer the last rule that matches decides, else the risk default. Between layers the stricter answer
 * decides. What cannot be matched asks, at least. Nothing else happens here.
 */
import { severityOf } from './assessment.ts';
import { callSubjects, compilePattern, matches, type CallSubjects, type CompiledPattern } from './matching.ts';
import { actions, standardRiskDefaults, type Action, type Policy } from './policy.ts';
import type { RunSide, RunSideRule } from './run-side.ts';
import type { JsonObject, Risk, Severity } from './tool-call.ts';

/** The number of the engine below; a run keeps the one it started with (I12). */
export const engine = 1;

export interface Ruling {
  action: Action;
  /** Id of the rule that decided; null where a risk default did. */
  rule: string | null;
  /** Where that rule stands; `default` where a risk default decided. */
  layer: 'ceiling' | 'agent' | 'run' | 'default';
  /** The rule's reason, or why it could not be evaluated. */
  reason?: string;
  severity: Severity;
  engine: number;
}

/** A call as the policy sees it. `subject` names the argument that `name:args` patterns match. */
export interface RuledCall {
  tool: string;
  args: JsonObject;
  risk: Risk;
  subject?: string;
}

export interface CompiledPolicy {
  rules: { pattern: CompiledPattern | { problem: string }; answer: Answer }[];
  riskDefaults: Policy['riskDefaults'];
}

export interface CompiledLayers {
  ceiling?: CompiledPolicy;
  run?: CompiledPolicy;
}

type Answer = Pick<Ruling, 'action' | 'rule' | 'layer' | 'reason'>;

/** Compiles a policy once for many rulings. Rules without an id get `LAYER#N`, N from 1 in their own list. */
export function compilePolicy(policy: Policy | RunSide, layer: 'ceiling' | 'run'): CompiledPolicy {
  const counts = { ceiling: 0, agent: 0, run: 0 };
  const rules = policy.rules.map((rule: RunSideRule) => {
    const from = rule.layer ?? layer;
    counts[from] += 1;
    const { action, reason, id = `${from}#${counts[from]}` } = rule;
    // A pattern that parsePolicy would refuse stays in its place, and cannot be evaluated.
    return {
      pattern: compilePattern(rule.pattern),
      answer: { action, rule: id, layer: from, ...(reason && { reason }) },
    };
  });
  return { rules, riskDefaults: policy.riskDefaults };
}

/**
 * Rules on one call. A layer without a policy does not answer; without any, the standard risk defaults do.
 * Where both layers are equally strict, a rule is reported before a risk default, then the ceiling before the run.
 * `context.engine` is the number recorded in the run; throws for one that this version no longer has.
 */
export function evaluate(layers: CompiledLayers, call: RuledCall, context: { engine?: number } = {}): Ruling {
  const number = context.engine ?? engine;
  if (number !== 1) {
    throw new Error(
      `ruling engine ${number} is not in this version: start a worker of the version that began this run`,
    );
  }
  return evaluateByEngine1(layers, call);
}

function evaluateByEngine1(layers: CompiledLayers, call: RuledCall): Ruling {
  const subjects = callSubjects(call);
  const answers = [layers.ceiling, layers.run]
    .filter((policy) => policy !== undefined)
    .map((policy) => answerOf(policy, call.risk, subjects));
  if (answers.length === 0) answers.push(riskDefault({}, call.risk));
  return { ...strictest(answers), severity: severityOf(call.risk), engine: 1 };
}

/** One layer's answer: its last match, else its risk default; after an error never less than ask, or than a deny that matched. */
function answerOf(policy: CompiledPolicy, risk: Risk, subjects: CallSubjects): Answer {
  let answer: Answer = riskDefault(policy.riskDefaults, risk);
  const denied: Answer[] = [];
  const failed: Answer[] = [];
  for (const { pattern, answer: own } of policy.rules) {
    const matched = 'problem' in pattern ? pattern : matches(pattern, subjects);
    if (matched === false) continue;
    if (matched === true) {
      answer = own;
      if (own.action === 'deny') denied.unshift(own);
    } else {
      failed.unshift({ ...own, action: 'ask', reason: `rule ${own.rule} cannot be evaluated: ${matched.problem}` });
    }
  }
  return failed.length === 0 ? answer : strictest([answer, ...denied, ...failed]);
}

function riskDefault(written: Policy['riskDefaults'], risk: Risk): Answer {
  const action = risk === 'unknown' ? 'ask' : (written[risk] ?? standardRiskDefaults[risk]);
  return { action, rule: null, layer: 'default' };
}

/** The strictest answer; of equals one by a rule before one by default, then the first. */
function strictest(answers: Answer[]): Answer {
  return answers.reduce((best, next) => {
    const difference = actions.indexOf(next.action) - actions.indexOf(best.action);
    return difference > 0 || (difference === 0 && best.rule === null && next.rule !== null) ? next : best;
  });
}
