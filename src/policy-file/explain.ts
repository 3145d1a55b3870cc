import { holds, readingOf, type CompiledLayers, type CompiledRule } from '../core/policy/compiled-policy.ts';
import type { LayerCall } from '../core/policy/layer-answer.ts';
import { affordable } from '../core/match/matching.ts';
import { partMatchers } from '../core/policy/part-matchers.ts';
import type { Action } from '../core/policy/modes.ts';
import { allowsOnlyCommand, leftOutBy } from '../core/policy/whole-call.ts';
import { checkRuled } from './evaluate.ts';
import { evaluate, readyCall, type RuledCall, type Ruling, type RulingContext } from '../core/policy/ruling.ts';

/** The result of one rule for a call. */
export interface RuleMatch {
  rule: string;
  layer: 'ceiling' | 'parent' | 'agent' | 'run';
  /** The rule's action, whether it matched or not. */
  action: Action;
  /** True if the rule matched; for a command, any part of it. `error`: the rule could not be evaluated. */
  matched: boolean | 'error';
  /** The reason, as a clause such as `it matches`. */
  why: string;
}

/** The result of `explain`. */
export interface Explanation {
  ruling: Ruling;
  /** All rules of all layers, in order, the ceiling's first. */
  matches: RuleMatch[];
}

/**
 * Evaluates one call as `evaluate` does, and says of each rule whether it matched and why; for people and tools.
 *
 * @example
 * ```ts
 * import { compilePolicy, explain, parsePolicy } from 'countersign';
 *
 * const parsed = parsePolicy("rules: [{ pattern: 'bash:git *', action: allow }]");
 * if ('problems' in parsed) throw new Error('the policy is invalid');
 * const { ruling, matches } = explain(
 *   { ceiling: compilePolicy(parsed.policy, 'ceiling') },
 *   { tool: 'bash', args: { command: 'ls' }, risk: 'write', subject: 'command' },
 * );
 * console.log(ruling.action, matches[0]?.matched, matches[0]?.why); // ask false its pattern does not match the arguments
 * ```
 */
export function explain(layers: CompiledLayers, call: RuledCall, context: RulingContext = {}): Explanation {
  checkRuled('explain', layers, call, context);
  const matches = [layers.ceiling, ...(layers.parents ?? []), layers.run].flatMap((policy) => {
    if (policy === undefined) return [];
    const ready = readyCall(call, context);
    // `explain` may evaluate a condition twice. Keep the results, so that it costs no more than in the ruling.
    ready.facts.held ??= new Map();
    const { all: candidates, argsLength } = policy.candidates(ready.subjects);
    const matchers = partMatchers({ ...ready, argsLength });
    return policy.rules.map((rule): RuleMatch => {
      const { id, layer, action } = rule;
      const candidate = candidates.find((each) => each.rule === rule);
      const ofParts = candidate === undefined ? [] : matchers.map((matcher) => matcher(candidate));
      return { rule: id, layer, action, ...matchOf(rule, ofParts, ready) };
    });
  });
  return { ruling: evaluate(layers, call, context), matches };
}

/** Says whether a rule matched and why. `ofParts`: its matches with the parts of a command, or with the whole call. */
function matchOf(
  rule: CompiledRule,
  ofParts: readonly (boolean | { problem: string })[],
  call: LayerCall,
): Pick<RuleMatch, 'matched' | 'why'> {
  const counted = ofParts.filter((match) => match === true).length;
  if (counted > 0) {
    const leftOut = leftOutBy(rule, call);
    if (leftOut.length > 0) return { matched: false, why: `it ${allowsOnlyCommand(leftOut)}` };
    const why =
      ofParts.length > 1 ? `it counts for ${counted} of ${ofParts.length} parts of the command` : 'it matches';
    return { matched: true, why };
  }
  const problem = ofParts.find((match) => typeof match === 'object');
  if (problem === undefined) return { matched: false, why: whyNot(rule, call) };
  return { matched: 'error', why: `it cannot be evaluated: ${problem.problem}` };
}

/** Says, as a clause, which part of a rule does not match the call: the first that fails. */
function whyNot(rule: CompiledRule, { subjects, facts, shell }: LayerCall): string {
  const { agent, pattern, fields, condition } = rule;
  if ('problem' in pattern) return `its pattern ${pattern.problem}`;
  if (affordable(pattern.name, subjects.name, subjects) === false) return 'its pattern is for another tool';
  if (agent !== undefined && agent !== facts.agent) return `it is for agent '${agent}'`;
  // Of a command, each part may match or not, so the text of no single part is the reason.
  if (shell === undefined) {
    const reading = readingOf(rule.action);
    if (pattern.args !== undefined && affordable(pattern.args, subjects.args(), subjects, reading) === false) {
      return 'its pattern does not match the arguments';
    }
    const field = fields.find(
      ({ name, glob }) => !('problem' in glob) && affordable(glob, subjects.field(name), subjects, reading) === false,
    );
    if (field !== undefined) return `its glob does not match argument '${field.name}'`;
  }
  if (condition !== undefined && holds(rule, condition(), facts) === false) return 'its condition does not hold';
  return 'it counts for no part of the command';
}
