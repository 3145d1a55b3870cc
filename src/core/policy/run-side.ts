import type { Mode } from './modes.ts';
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
 * Joins the sources of the run's side (policy section 3): one list of rules, the agent's first, so that the input's
 * override them; for the mode, each risk default, each limit and the directory as a whole the later source wins. `mode` is
 * `RunInput.mode`, the latest; without a policy it makes an empty one. Undefined if there is none of the three.
 *
 * @example
 * mergeRunSide(undefined, undefined, 'plan'); // => { version: 1, mode: 'plan', rules: [], riskDefaults: {}, approval: {} }
 */
export function mergeRunSide(agentPolicy?: Policy, inputPolicy?: Policy, inputMode?: Mode): RunSide | undefined {
  if (agentPolicy === undefined && inputPolicy === undefined && inputMode === undefined) return undefined;
  const agentRules = (agentPolicy?.rules ?? []).map((rule): RunSideRule => ({ ...rule, layer: 'agent' }));
  // A ceiling's own, like the keys of reviewers: neither parsePolicy nor this function lets them in from below.
  const { maxTimeoutMs: _, ...approval } = { ...agentPolicy?.approval, ...inputPolicy?.approval };
  const assess = [...(agentPolicy?.assess ?? []), ...(inputPolicy?.assess ?? [])];
  const patterns = [...(agentPolicy?.redact?.patterns ?? []), ...(inputPolicy?.redact?.patterns ?? [])];
  const mode = inputMode ?? inputPolicy?.mode ?? agentPolicy?.mode;
  // Whole: who is named in one source must not become a member by the groups of another.
  const directory = inputPolicy?.directory ?? agentPolicy?.directory;
  return {
    version: 1,
    ...(mode !== undefined && { mode }),
    rules: [...agentRules, ...(inputPolicy?.rules ?? [])],
    riskDefaults: { ...agentPolicy?.riskDefaults, ...inputPolicy?.riskDefaults },
    approval,
    ...(assess.length > 0 && { assess }),
    ...(patterns.length > 0 && { redact: { patterns } }),
    ...(directory !== undefined && { directory }),
  };
}

/** What `setPolicy` last changed: a source after all that the run began with (policy section 3). */
export interface PolicyChange {
  policy?: Policy;
  mode?: Mode;
}

/** The run's side after a change. It takes the place of an earlier change, so `base` is what the run began with. */
export function changeRunSide(base: RunSide | undefined, { policy, mode }: PolicyChange): RunSide | undefined {
  const changed = mergeRunSide(undefined, policy, mode);
  if (changed === undefined || base === undefined) return changed ?? base;
  const merged = mergeRunSide(base, changed, mode)!;
  // Each rule keeps the place it stood in.
  return { ...merged, rules: [...base.rules, ...changed.rules] };
}
