import { compilePolicy, type CompiledPolicy } from '../core/policy/compiled-policy.ts';
import type { Policy } from '../core/policy/policy.ts';
import { mergeRunSide } from '../core/policy/run-side.ts';

/** With the ids that the rules of this owner have in rulings. */
export function compileFor(policy: Policy, owner: 'ceiling' | 'agent' | 'run'): CompiledPolicy {
  if (owner === 'ceiling') return compilePolicy(policy, owner);
  return compilePolicy(owner === 'agent' ? mergeRunSide(policy, undefined)! : policy, 'run');
}
