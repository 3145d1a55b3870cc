import type { ShapeProblem } from './explain-shape.ts';
import { compilePolicy, ruleMatches } from '../policy/compiled-policy.ts';
import { placedRules, ruleOf } from './normal-form.ts';
import type { PolicyDocument } from './shape.ts';
import { readyCall } from '../policy/ruling.ts';
import type { JsonObject } from '../base/tool-call.ts';

/**
 * Checks the `examples` of all rules. An example is a map, the arguments of a call, or a text, the value of the tool's
 * subject. The tool's name counts as matched; its risk is `write`, and the counts of the run are zero.
 */
export function exampleProblems(document: PolicyDocument): ShapeProblem[] {
  return placedRules(document).flatMap(({ rule, agent, path }) => {
    const { match = [], not_match: notMatch = [] } = rule.examples ?? {};
    if (match.length + notMatch.length === 0) return [];
    const [compiled] = compilePolicy(
      { version: 1, rules: [ruleOf(rule, agent)], riskDefaults: {}, approval: {} },
      'run',
    ).rules;
    const tool = rule.pattern.split(':', 1)[0]!;
    const check = (example: string | JsonObject, key: string, index: number, expected: boolean): ShapeProblem[] => {
      const call =
        typeof example === 'string'
          ? { tool, args: { subject: example }, risk: 'write' as const, subject: 'subject' }
          : { tool, args: example, risk: 'write' as const };
      const { subjects, facts } = readyCall(call, { agent: agent ?? '' });
      const matched = ruleMatches({ rule: compiled!, named: true }, subjects, facts);
      if (matched === expected) return [];
      const fault =
        typeof matched === 'object'
          ? `cannot be evaluated: ${matched.problem}`
          : matched
            ? 'matches the rule but must not'
            : 'does not match the rule';
      return [{ path: [...path, 'examples', key, index], message: `this example ${fault}` }];
    };
    return [
      ...match.flatMap((example, index) => check(example as JsonObject, 'match', index, true)),
      ...notMatch.flatMap((example, index) => check(example as JsonObject, 'not_match', index, false)),
    ];
  });
}
