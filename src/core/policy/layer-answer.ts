/**
 * One layer's answer to one call: its last matching rule, else its risk default, under the mode. A command gets the
 * strictest answer to any of its parts. A rule that cannot be evaluated never loosens: a deny rule denies, an ask rule
 * gives `ask` or a stricter answer, and an allow rule is skipped.
 */
import { continueTool, type Risk } from '../base/tool-call.ts';
import type { Candidate, CompiledPolicy, CompiledRule } from './compiled-policy.ts';
import type { Mode, ModeFacts, Action } from './modes.ts';
import { allowsAnything, applyMode, modeReason, actions, isAsked } from './modes.ts';
import { partMatchers, type MatchedCall, type PartMatcher } from './part-matchers.ts';
import { allowsOnlyCommand, leftOutBy } from './whole-call.ts';
import { standardRiskDefaults, type AdvisorSettings, type AskSettings, type Policy } from './policy.ts';
import type { RulingMeter } from '../match/ruling-meter.ts';

export interface LayerAnswer {
  action: Action;
  /** Null if a risk default or a mode decided. */
  rule: string | null;
  layer: CompiledRule['layer'] | 'default';
  reason?: string;
  /** The mode, if it decided the action. */
  mode?: Mode;
  ask?: AskSettings;
}

export interface LayerCall extends Omit<MatchedCall, 'argsLength'> {
  tool: string;
  mode: ModeFacts;
  /** The arguments beside a command that the tool did not declare harmless. */
  undeclared: readonly string[];
  meter: RulingMeter;
}

interface Matched {
  last?: CompiledRule;
  /** An allow rule after `last` that leaves out arguments beside a command, turned into a rule that asks. */
  partial?: CompiledRule;
  /** In both lists, the last rule comes first. */
  denied: CompiledRule[];
  failed: { rule: CompiledRule; problem: string }[];
}

/** The most matches of one ruling, rules times parts: about 40 ms. Beyond that, rules cannot be evaluated. */
export const maxPartMatches = 50_000;
/** What one such match costs, in units of `maxMatchWork`. */
const workOfPartMatch = 100;

/** The most parts of a command to which this many rules may apply. */
export function mostParts(rules: number): number {
  return Math.floor(maxPartMatches / rules);
}

/** The answer to report, then the others that are as strict. Asks that name no advisor get that of the policy. */
export function layerAnswers(policy: CompiledPolicy, call: LayerCall): readonly LayerAnswer[] {
  const { advisor } = policy;
  const answers = answersOf(policy, call);
  if (advisor === undefined) return answers;
  return answers.map((answer) => {
    const { action, ask } = answer;
    if (!isAsked(action) || ask?.advisor !== undefined) return answer;
    // If a rule names people, only the rule itself may let an advisor approve in their place.
    return { ...answer, ask: { ...ask, advisor: namesPeople(ask) ? notApproving(advisor) : advisor } };
  });
}

function namesPeople({ reviewers, quorum, oneOfEach, verified }: AskSettings = {}): boolean {
  return [reviewers, quorum, oneOfEach].some((value) => value !== undefined) || verified === true;
}

function notApproving({ name, timeoutMs }: AdvisorSettings): AdvisorSettings {
  return { name, ...(timeoutMs !== undefined && { timeoutMs }) };
}

/** The strictest answers to any part of a call. If a command has too many parts, no rule can be evaluated. */
function answersOf(policy: CompiledPolicy, call: LayerCall): readonly LayerAnswer[] {
  const { all, argsLength, index } = policy.candidates(call.subjects);
  const { length } = call.shell?.parts ?? [];
  if (length > mostParts(all.length)) {
    const problem = `a command of ${length} parts is too much for ${all.length} rules`;
    const failed = all.map(({ rule }) => ({ rule, problem })).toReversed();
    return partAnswers(policy, { denied: [], failed }, call);
  }
  call.meter.work += length * all.length * workOfPartMatch;
  const parts = partMatchers({ ...call, argsLength });
  const [whole] = parts;
  if (call.shell === undefined && whole !== undefined) {
    const likely = index()?.mayMatch(call.subjects.args());
    return partAnswers(policy, matchesOfPart(likely ?? all, whole, call), call);
  }
  return strictest(parts.flatMap((part) => partAnswers(policy, matchesOfPart(all, part, call), call)));
}

/** The strictest of the answers, in order, but with the first answer of a rule, if any, at the beginning. */
export function strictest(answers: readonly LayerAnswer[]): readonly LayerAnswer[] {
  if (answers.length === 1) return answers;
  const most = answers.reduce((rank, { action }) => Math.max(rank, actions.indexOf(action)), 0);
  const asStrict = answers.filter(({ action }) => actions.indexOf(action) === most);
  const reported = asStrict.find(({ rule }) => rule !== null) ?? asStrict[0]!;
  return [reported, ...asStrict.filter((answer) => answer !== reported)];
}

/** The answer to a call that no rule matches. To go on beyond a limit, a run always has to ask. */
export function riskDefault(written: Policy['riskDefaults'], { tool, risk }: { tool: string; risk: Risk }): Action {
  if (tool === continueTool) return 'ask';
  return risk === 'unknown' ? 'ask' : (written[risk] ?? standardRiskDefaults[risk]);
}

/** The candidates that match one part, and those that cannot be evaluated. */
function matchesOfPart(candidates: readonly Candidate[], part: PartMatcher, call: LayerCall): Matched {
  const found: Matched = { denied: [], failed: [] };
  for (const candidate of candidates) {
    const { rule } = candidate;
    // No allow rule lets a run go on beyond a limit, not even a rule for every tool.
    if (call.tool === continueTool && rule.action === 'allow') continue;
    const matched = part(candidate);
    if (matched === false) continue;
    const failed = matched === true ? undefined : { rule, problem: matched.problem };
    if (failed !== undefined) found.failed.unshift(failed);
    const leftOut = leftOutBy(rule, call);
    if (leftOut.length > 0) {
      const reason = failed === undefined ? `rule ${rule.id} ${allowsOnlyCommand(leftOut)}` : notEvaluated(failed);
      found.partial = { ...rule, action: 'ask', ask: undefined, reason };
    }
    // A rule that failed, or that leaves out arguments, is not the last rule that matched.
    if (failed !== undefined || leftOut.length > 0) continue;
    found.last = rule;
    found.partial = undefined;
    if (rule.action === 'deny') found.denied.unshift(rule);
  }
  return found;
}

/**
 * The strictest of the answers that count for one part of a call. If a rule that asks or denies cannot be evaluated,
 * its answer counts, and so does each deny that matched, even before a later match. If the last matching rule leaves
 * out arguments (`partial`), an ask counts in its place, beside the answer of the other rules.
 */
function partAnswers(
  policy: CompiledPolicy,
  { last, partial, denied, failed }: Matched,
  call: LayerCall,
): readonly LayerAnswer[] {
  const own =
    last === undefined
      ? answerWithoutRule(policy, call, partial?.reason ?? failedAllowReason(failed))
      : answerOfRule(policy, call, last);
  const answers = [own];
  if (partial !== undefined) answers.unshift(answerOfRule(policy, call, partial));
  if (failed.length === 0) return strictest(answers);
  answers.push(...denied.map((rule) => answerOfRule(policy, call, rule)));
  const counting = failed.filter(({ rule }) => rule.action !== 'allow');
  const ofFailed = counting.map(({ rule, problem }) => answerOfFailedRule(policy, call, rule, problem));
  // Asks of failed rules come first, because their problems are reported; denials last, after those of other rules.
  const asking = ofFailed.filter(({ action }) => isAsked(action));
  const denying = ofFailed.filter((answer) => !asking.includes(answer));
  return strictest([...asking, ...answers, ...denying]);
}

function answerOfRule({ mode }: CompiledPolicy, call: LayerCall, rule: CompiledRule): LayerAnswer {
  const { action, id, layer, reason, ask } = rule;
  const applied = action === 'deny' ? action : withoutAllow(call, applyMode(mode, action, action, call.mode)).action;
  if (applied !== action) return answerOfMode(mode, applied, call.tool);
  return { action, rule: id, layer, reason, ask };
}

/** Why the last allow rule that failed did not allow the call, for the model and the reviewers. */
function failedAllowReason(failed: Matched['failed']): string | undefined {
  const allow = failed.find(({ rule }) => rule.action === 'allow');
  return allow && notEvaluated(allow);
}

/** The answer of a mode, but an ask instead of an allow if the call asks to go on beyond a limit. */
function withoutAllow<Applied extends { action: Action }>({ tool }: LayerCall, applied: Applied): Applied {
  return tool === continueTool && applied.action === 'allow' ? { ...applied, action: 'ask', decided: false } : applied;
}

function notEvaluated({ rule, problem }: Matched['failed'][number]): string {
  return `rule ${rule.id} cannot be evaluated: ${problem}`;
}

/**
 * The risk default under the mode, for a call that no rule matches. A part of a command gets an ask, not an allow,
 * unless the mode allows anything. `reason`: why a rule did not count, which an allow does not repeat.
 */
function answerWithoutRule({ mode, riskDefaults }: CompiledPolicy, call: LayerCall, reason?: string): LayerAnswer {
  const standard = riskDefault(riskDefaults, { tool: call.tool, risk: call.mode.risk });
  const { action, decided } = withoutAllow(call, applyMode(mode, 'none', standard, call.mode));
  if (action === 'allow' && call.shell !== undefined && !allowsAnything(mode)) {
    const why = reason ?? 'No rule allows a part of the command';
    return { action: 'ask', rule: null, layer: 'default', reason: why };
  }
  if (decided) return answerOfMode(mode, action, call.tool);
  const why = call.tool === continueTool ? 'The run has reached a limit' : reason;
  return { action, rule: null, layer: 'default', ...(action !== 'allow' && { reason: why }) };
}

/** A rule that cannot be evaluated denies if its action is `deny`, else asks. A mode may deny instead, never allow. */
function answerOfFailedRule(
  { mode, advisor }: CompiledPolicy,
  call: LayerCall,
  rule: CompiledRule,
  problem: string,
): LayerAnswer {
  const reason = notEvaluated({ rule, problem });
  if (rule.action === 'deny') {
    return { action: 'deny', rule: rule.id, layer: rule.layer, reason };
  }
  const { action } = applyMode(mode, 'ask', 'ask', call.mode);
  if (action === 'deny') return answerOfMode(mode, action, call.tool);
  return {
    action: 'ask',
    rule: rule.id,
    layer: rule.layer,
    reason,
    ask: askOfFailing(rule, advisor),
  };
}

/** How a rule asks that cannot be evaluated: no advisor may approve, because the policy's answer is unknown. */
function askOfFailing({ ask }: CompiledRule, ofPolicy: AdvisorSettings | undefined): AskSettings | undefined {
  const advisor = ask?.advisor ?? ofPolicy;
  return advisor === undefined || advisor === false ? ask : { ...ask, advisor: notApproving(advisor) };
}

function answerOfMode(mode: Mode, action: Action, tool: string): LayerAnswer {
  const reason = modeReason(mode, action, tool);
  return { action, rule: null, layer: 'default', reason, mode };
}
