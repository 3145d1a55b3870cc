/**
 * One layer's answer to one call: its last matching rule, else its risk default, after the mode is applied. A command
 * of several parts gets the strictest answer to any of them. If a rule cannot be evaluated, the answer is at least
 * `ask`.
 */
import type { Candidate, CompiledPolicy, CompiledRule } from './compiled-policy.ts';
import { allowsAnything, applyMode, modeReason, type Mode, type ModeFacts } from './modes.ts';
import { partMatchers, type MatchedCall, type PartMatcher } from './part-matchers.ts';
import { allowsOnlyCommand, leftOutBy } from './whole-call.ts';
import { standardRiskDefaults, type Always, type AskSettings, type Policy } from './policy.ts';
import { actions, type Action } from './action.ts';
import type { Risk } from '../base/tool-call.ts';

export interface LayerAnswer {
  action: Action;
  /** Null if a risk default or a mode decided. */
  rule: string | null;
  layer: CompiledRule['layer'] | 'default';
  reason?: string;
  /** The mode, if it decided the action. */
  mode?: Mode;
  ask?: AskSettings;
  /** The widest grant that lifts this ask; absent: the default for the call. */
  always?: Always;
}

export interface LayerCall extends Omit<MatchedCall, 'argsLength'> {
  tool: string;
  mode: ModeFacts;
  /** Arguments beside a command that its tool did not declare harmless. */
  undeclared: readonly string[];
}

interface Matched {
  last?: CompiledRule;
  /** An allow rule after `last` that leaves out arguments, as the ask that it stands for. */
  partial?: CompiledRule;
  /** In both lists, the last rule comes first. */
  denied: CompiledRule[];
  failed: { rule: CompiledRule; problem: string }[];
}

/** The answer to report, followed by all others that are as strict. */
export function layerAnswers(policy: CompiledPolicy, call: LayerCall): readonly LayerAnswer[] {
  const { all, argsLength, index } = policy.candidates(call.subjects);
  const parts = partMatchers({ ...call, argsLength });
  const [whole] = parts;
  if (call.shell === undefined && whole !== undefined) {
    const few = index()?.mayMatch(call.subjects.args());
    return partAnswers(policy, matchedBy(few ?? all, whole, call), call);
  }
  return strictest(parts.flatMap((part) => partAnswers(policy, matchedBy(all, part, call), call)));
}

/** The strictest answers in order, except that the first one by a rule, if any, comes first. */
export function strictest(answers: readonly LayerAnswer[]): readonly LayerAnswer[] {
  if (answers.length === 1) return answers;
  const most = Math.max(...answers.map(({ action }) => actions.indexOf(action)));
  const best = answers.filter(({ action }) => actions.indexOf(action) === most);
  const reported = best.find(({ rule }) => rule !== null) ?? best[0]!;
  return [reported, ...best.filter((answer) => answer !== reported)];
}

export function riskDefault(written: Policy['riskDefaults'], risk: Risk): Action {
  return risk === 'unknown' ? 'ask' : (written[risk] ?? standardRiskDefaults[risk]);
}

function matchedBy(candidates: readonly Candidate[], part: PartMatcher, call: LayerCall): Matched {
  const found: Matched = { denied: [], failed: [] };
  for (const candidate of candidates) {
    const { rule } = candidate;
    const matched = part(candidate);
    if (matched === false) continue;
    if (matched !== true) {
      found.failed.unshift({ rule, problem: matched.problem });
      continue;
    }
    const leftOut = leftOutBy(rule, call);
    if (leftOut.length > 0) {
      found.partial = {
        ...rule,
        action: 'ask',
        ask: undefined,
        reason: `rule ${rule.id} ${allowsOnlyCommand(leftOut)}`,
      };
      continue;
    }
    found.last = rule;
    found.partial = undefined;
    if (rule.action === 'deny') found.denied.unshift(rule);
  }
  return found;
}

/**
 * If a rule could not be evaluated, the answer is at least `ask`, and at least any deny that matched. If the last rule
 * that matched leaves out arguments, the answer is at least `ask`, and at least the answer without that rule.
 */
function partAnswers(
  policy: CompiledPolicy,
  { last, partial, denied, failed }: Matched,
  call: LayerCall,
): readonly LayerAnswer[] {
  const own = last === undefined ? unruled(policy, call, partial?.reason) : ruled(policy, call, last);
  const answers = [own];
  if (partial !== undefined) answers.unshift(ruled(policy, call, partial));
  if (failed.length > 0) {
    answers.push(
      ...denied.map((rule) => ruled(policy, call, rule)),
      ...failed.map(({ rule, problem }) => failing(policy, call, rule, problem)),
    );
  }
  return strictest(answers);
}

function ruled({ mode }: CompiledPolicy, call: LayerCall, rule: CompiledRule): LayerAnswer {
  const { action, id, layer, reason, ask } = rule;
  const applied = action === 'deny' ? action : applyMode(mode, action, action, call.mode).action;
  if (applied !== action) return byMode(mode, applied, call.tool);
  return { action, rule: id, layer, reason, ask, always: ask?.always };
}

/** `reason`: to report with a risk default. */
function unruled({ mode, riskDefaults }: CompiledPolicy, call: LayerCall, reason?: string): LayerAnswer {
  const { action, decided } = applyMode(mode, 'none', riskDefault(riskDefaults, call.mode.risk), call.mode);
  if (action === 'allow' && call.shell !== undefined && !allowsAnything(mode)) {
    return { action: 'ask', rule: null, layer: 'default', reason: 'No rule allows a part of the command' };
  }
  return decided ? byMode(mode, action, call.tool) : { action, rule: null, layer: 'default', reason };
}

/** A mode makes it stricter, never looser. No grant lifts it if the rule is a deny. */
function failing({ mode }: CompiledPolicy, call: LayerCall, rule: CompiledRule, problem: string): LayerAnswer {
  const { action } = applyMode(mode, 'ask', 'ask', call.mode);
  if (action === 'deny') return byMode(mode, action, call.tool);
  return {
    action: 'ask',
    rule: rule.id,
    layer: rule.layer,
    reason: `rule ${rule.id} cannot be evaluated: ${problem}`,
    ask: rule.action === 'ask' ? rule.ask : undefined,
    always: rule.action === 'deny' ? false : rule.ask?.always,
  };
}

function byMode(mode: Mode, action: Action, tool: string): LayerAnswer {
  const reason = modeReason(mode, action, tool);
  return { action, rule: null, layer: 'default', reason, mode };
}
