import type { Mode } from './modes.ts';
import type { Policy, PolicyLayers, Rule, Show, RedactSettings } from './policy.ts';
import { mergeRunLimits } from './run-limits.ts';
import { compileGlob, globMatches, globSubject } from '../match/glob.ts';
import { nfc } from '../base/text.ts';

/** A rule of the run's side. `layer: 'agent'`: from the agent's policy; absent: from the run's own input. */
export interface RunSideRule extends Rule {
  layer?: 'agent';
}

/** The agent's policy and `RunInput.policy`, merged: a `Policy` whose rules keep their source. */
export interface RunSide extends Policy {
  rules: RunSideRule[];
}

/**
 * Merges the policies of the run's side: the agent's, and that of the run's input (docs/policy-reference.md). Rules
 * form one list, in which the input's come last and so override. Of mode, risk defaults, `approval` settings,
 * directory and advisor, the later policy wins; `show` and redactions add up; of `limits`, the smallest amount
 * counts. `inputMode` (`RunInput.mode`) wins over both. Returns undefined if all three are undefined.
 *
 * @example
 * ```ts
 * import { mergeRunSide, parsePolicy } from 'countersign';
 *
 * const agent = parsePolicy('rules: [{ pattern: refund, action: ask }]');
 * const input = parsePolicy('rules: [{ pattern: refund, action: deny }]');
 * if ('problems' in agent || 'problems' in input) throw new Error('a policy is invalid');
 * const merged = mergeRunSide(agent.policy, input.policy, 'plan');
 * console.log(merged?.rules.map(({ action }) => action)); // [ 'ask', 'deny' ]
 * ```
 */
export function mergeRunSide(agentPolicy?: Policy, inputPolicy?: Policy, inputMode?: Mode): RunSide | undefined {
  if (agentPolicy === undefined && inputPolicy === undefined && inputMode === undefined) return undefined;
  const agentRules = (agentPolicy?.rules ?? []).map((rule): RunSideRule => ({ ...rule, layer: 'agent' }));
  // Only a ceiling may set these two; `parsePolicy` refuses them elsewhere, too.
  const { maxTimeoutMs: _, minRemindMs: __, ...approval } = { ...agentPolicy?.approval, ...inputPolicy?.approval };
  const show = mergeShow(agentPolicy?.approval.show, inputPolicy?.approval.show);
  const assess = [...(agentPolicy?.assess ?? []), ...(inputPolicy?.assess ?? [])];
  const redact = mergeRedact(agentPolicy?.redact, inputPolicy?.redact);
  const limits = mergeRunLimits(agentPolicy?.limits, inputPolicy?.limits);
  const mode = inputMode ?? inputPolicy?.mode ?? agentPolicy?.mode;
  // The directory is not merged: a name in one policy must not become a member through the groups of the other.
  const directory = inputPolicy?.directory ?? agentPolicy?.directory;
  const advisor = inputPolicy?.advisor ?? agentPolicy?.advisor;
  // Leave out keys without a value, as in a parsed policy.
  return {
    version: 1,
    ...(mode !== undefined && { mode }),
    rules: [...agentRules, ...(inputPolicy?.rules ?? [])],
    riskDefaults: { ...agentPolicy?.riskDefaults, ...inputPolicy?.riskDefaults },
    approval: show === undefined ? approval : { ...approval, show },
    ...(assess.length > 0 && { assess }),
    ...(redact !== undefined && { redact }),
    ...(limits !== undefined && { limits }),
    ...(directory !== undefined && { directory }),
    ...(advisor !== undefined && { advisor }),
  };
}

/** The change by the last `setPolicy`: its rules come after all rules that the run began with. */
export interface PolicyChange {
  policy?: Policy;
  mode?: Mode;
  /** The channels that carry the run's requests from now on, in place of its routes. */
  channels?: readonly string[];
}

/** The answer of query `policy`: the policies that rule now. `run` merges the policies of agent and run. */
export interface RunPolicies extends PolicyLayers {
  /** SHA-256 of the canonical JSON of the policies; the receipt of `setPolicy` shows how it begins. */
  digest: string;
  /** The version of the engine that rules. */
  engine: number;
  /** The changes by `setPolicy` that are in force. Absent if there was none. */
  change?: PolicyChange;
}

/** Merges a change with the earlier one. New channels keep the earlier policy and mode, and vice versa. */
export function laterChange(change: PolicyChange, earlier: PolicyChange = {}): PolicyChange {
  const { policy, mode, channels = earlier.channels } = change;
  const isOfPolicy = policy !== undefined || mode !== undefined;
  return { ...(isOfPolicy ? { policy, mode } : earlier), channels };
}

/** The run's side after a change. `base`: the side with which the run began, so without any earlier change. */
export function changeRunSide(base: RunSide | undefined, { policy, mode }: PolicyChange): RunSide | undefined {
  const changed = mergeRunSide(undefined, policy, mode);
  if (changed === undefined || base === undefined) return changed ?? base;
  const merged = mergeRunSide(base, changed, mode)!;
  // `mergeRunSide` marks all rules of `base` as the agent's, so the rules keep their own layers here.
  return { ...merged, rules: [...base.rules, ...changed.rules] };
}

/** The arguments that lists show: the tool's own, then those in `show` of policies; none if a policy forbids that. */
export function namesToShow(layers: PolicyLayers, tool: string, declared: readonly string[] = []): string[] {
  const settings = [layers.ceiling, layers.parents, layers.run].flat().map((policy) => policy?.approval);
  if (settings.some((each) => each?.show === false || each?.includeArguments === false)) return [];
  const subject = globSubject(nfc(tool));
  const ofPolicies = settings.flatMap((each) =>
    Object.entries(each?.show || {}).flatMap(([pattern, names]) => {
      const glob = compileGlob(pattern);
      // A glob that does not compile matches nothing here: policies are checked when they are loaded.
      return !('problem' in glob) && globMatches(glob, subject) === true ? names : [];
    }),
  );
  return [...new Set([...declared, ...ofPolicies])];
}

/** The names of both policies; false if either is false. */
export function mergeShow(one: Show | undefined, other: Show | undefined): Show | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one === false || other === false) return false;
  const union = (pattern: string): string[] => [...new Set([...ownOf(one, pattern), ...ownOf(other, pattern)])];
  return Object.fromEntries([...Object.keys(one), ...Object.keys(other)].map((pattern) => [pattern, union(pattern)]));
}

function ownOf(show: Exclude<Show, false>, pattern: string): readonly string[] {
  return Object.hasOwn(show, pattern) ? show[pattern]! : [];
}

/** The redactions of two policies of one layer together. */
export function mergeRedact(
  one: RedactSettings | undefined,
  other: RedactSettings | undefined,
): RedactSettings | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  // A policy that names no kinds redacts all of them, so both together do.
  const kinds = one.kinds && other.kinds && [...new Set([...one.kinds, ...other.kinds])];
  const also = [...new Set([...(one.also ?? []), ...(other.also ?? [])])];
  // A member that neither policy has stays absent, because its default applies then.
  return {
    ...(kinds && { kinds }),
    patterns: [...one.patterns, ...other.patterns],
    ...((one.also ?? other.also) && { also }),
  };
}
