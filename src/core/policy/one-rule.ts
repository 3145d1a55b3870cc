/** What a single rule would answer to a call. Grants and assess rules use it, so that they match as rules do. */
import { compilePolicy, type CompiledPolicy } from './compiled-policy.ts';
import { layerAnswers, type LayerAnswer, type LayerCall } from './layer-answer.ts';

interface BareRule {
  /** Default: any tool. */
  pattern?: string;
  args?: Record<string, string> | undefined;
}

export interface OneRule {
  allows: (call: LayerCall) => boolean;
  /** Whether the rule would deny the call, or why that is unknown, as a clause. The unknown counts as a denial. */
  denies: (call: LayerCall) => boolean | { problem: string };
}

/** Risk defaults by which only the rule itself can allow or deny. */
const asks = { read_only: 'ask', write: 'ask', destructive: 'ask' } as const;
/** The beginning of the reason of a rule with the id '' that cannot be evaluated. */
const unknown = 'rule  cannot be evaluated: ';

/** Returns functions that apply a rule as an allow rule and as a deny rule. Each compiles the rule on first use. */
export function oneRule({ pattern = '*', args }: BareRule): OneRule {
  const made: { allow?: CompiledPolicy; deny?: CompiledPolicy } = {};
  const answer = (action: 'allow' | 'deny', call: LayerCall): LayerAnswer => {
    const rules = [{ id: '', pattern, args, action }];
    made[action] ??= compilePolicy({ version: 1, rules, riskDefaults: asks, approval: {} }, 'run');
    return layerAnswers(made[action], call)[0]!;
  };
  return {
    allows: (call) => answer('allow', call).action === 'allow',
    denies: (call) => {
      const { action, reason } = answer('deny', call);
      if (action !== 'deny') return false;
      // The rule has no reason of its own. So a reason here is the text `unknown` with the problem after it.
      return reason === undefined ? true : { problem: reason.slice(unknown.length) };
    },
  };
}
