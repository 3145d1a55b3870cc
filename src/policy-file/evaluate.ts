import { risks } from '../core/base/tool-call.ts';
import { ProblemError } from '../core/base/problem.ts';
import type { CompiledLayers, RuledCall, Ruling, RulingContext } from '../core/policy/ruling.ts';
import { evaluate as ruleOn } from '../core/policy/ruling.ts';
import { checkCallOptions } from '../text/check-call-options.ts';

/**
 * Evaluates one call; without any policy, by the standard risk defaults. If several layers are equally strict, the
 * ruling names a rule rather than a risk default, and prefers the ceiling to parents and these to the run. Throws
 * `arguments_invalid` for an unknown member or risk, and an `Error` for an engine version that is no longer supported.
 *
 * @example
 * ```ts
 * import { compilePolicy, evaluate, parsePolicy } from 'countersign';
 *
 * const parsed = parsePolicy(`
 * rules:
 *   - { pattern: pay, action: ask, reason: Money needs a person }
 *   - { pattern: pay, when: 'args.amount > 0 && args.amount <= 100', action: allow }`);
 * if ('problems' in parsed) throw new Error('the policy is invalid');
 * const layers = { run: compilePolicy(parsed.policy, 'run') };
 * console.log(evaluate(layers, { tool: 'pay', args: { amount: 5 }, risk: 'write' }).action); // allow
 * console.log(evaluate(layers, { tool: 'pay', args: { amount: 500 }, risk: 'write' }).reason); // Money needs a person
 * console.log(evaluate({}, { tool: 'wipe', args: {}, risk: 'destructive' }).action); // deny
 * ```
 */
export function evaluate(layers: CompiledLayers, call: RuledCall, context: RulingContext = {}): Ruling {
  checkRuled('evaluate', layers, call, context);
  return ruleOn(layers, call, context);
}

/** Throws for an unknown risk, and for an unknown layer or member: a misspelt layer would have no effect. */
export function checkRuled(place: string, layers: CompiledLayers, call: RuledCall, context: RulingContext): void {
  checkCallOptions(`${place}: layers`, layers, { ceiling: true, parents: true, run: true });
  const named = { tool: true, args: true, risk: true, subject: true, shell: true, beside: true } as const;
  checkCallOptions(`${place}: call`, call, named);
  const run = { engine: true, agent: true, caller: true, metadata: true, counts: true, sumOf: true } as const;
  const ruled = { assessment: true, grants: true, digest: true, atMs: true } as const;
  checkCallOptions(`${place}: context`, context, { ...run, ...ruled });
  const known = [...risks, 'unknown'];
  if (known.includes(call.risk)) return;
  throw new ProblemError({
    code: 'arguments_invalid',
    message: `${place}: call: risk must be one of ${known.join(', ')}`,
  });
}
