/** What a rule by itself would say of a call: how grants and assess rules read one, so that no two readings drift apart. */
import { compilePolicy, type CompiledPolicy } from './compiled-policy.ts';
import { layerAnswers, type LayerCall } from './layer-answer.ts';

/** A rule without an action. */
export interface BareRule {
  /** Default: any tool. */
  pattern?: string;
  /** Globs on arguments. */
  args?: Record<string, string>;
}

const asks = { read_only: 'ask', write: 'ask', destructive: 'ask' } as const;
const compiled = { allow: new WeakMap<BareRule, CompiledPolicy>(), deny: new WeakMap<BareRule, CompiledPolicy>() };

/** True if the rule would allow the whole call. */
export function wouldAllow(rule: BareRule, call: LayerCall): boolean {
  return answerOf(rule, 'allow', call).action === 'allow';
}

/** Whether the rule would deny the call, or why that is unknown, as a clause. Unknown denies. */
export function wouldDeny(rule: BareRule, call: LayerCall): boolean | { problem: string } {
  const { action, reason } = answerOf(rule, 'deny', call);
  if (action !== 'deny') return false;
  return reason === undefined ? true : { problem: reason.slice(reason.indexOf(': ') + 2) };
}

function answerOf(rule: BareRule, action: 'allow' | 'deny', call: LayerCall) {
  let policy = compiled[action].get(rule);
  if (policy === undefined) {
    const { pattern = '*', args } = rule;
    const rules = [{ id: '', pattern, args, action }];
    policy = compilePolicy({ version: 1, rules, riskDefaults: asks, approval: {} }, 'run');
    compiled[action].set(rule, policy);
  }
  return layerAnswers(policy, call)[0]!;
}
