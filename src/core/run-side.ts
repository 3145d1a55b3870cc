import type { Policy, Rule } from './policy.ts';

/** A rule of the run's side. `layer` says that the agent's policy wrote it; absent, the run's own input did. */
export interface RunSideRule extends Rule {
  layer?: 'agent';
}

/** The agent's policy and `RunInput.policy`, read as one. A `Policy` that remembers where its rules stood. */
export interface RunSide extends Policy {
  rules: RunSideRule[];
}

/**
 * Joins the two policies of the run's side (policy section 3): one list of rules, the agent's first, so that the
 * input's override them; for each risk default and each limit the later source wins. Undefined if there is neither.
 */
export function mergeRunSide(agentPolicy?: Policy, inputPolicy?: Policy): RunSide | undefined {
  if (agentPolicy === undefined && inputPolicy === undefined) return undefined;
  const agentRules = (agentPolicy?.rules ?? []).map((rule): RunSideRule => ({ ...rule, layer: 'agent' }));
  // A ceiling's own key: neither parsePolicy nor this function lets it in from below.
  const { maxTimeoutMs: _, ...approval } = { ...agentPolicy?.approval, ...inputPolicy?.approval };
  return {
    version: 1,
    rules: [...agentRules, ...(inputPolicy?.rules ?? [])],
    riskDefaults: { ...agentPolicy?.riskDefaults, ...inputPolicy?.riskDefaults },
    approval,
  };
}
