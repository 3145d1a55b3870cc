/**
 * One layer's answer to one call: its last matching rule, else its risk default, after the mode is applied. A command
 * of several parts gets the strictest answer to any of them. A rule that cannot be evaluated counts as its own action: if
 * it denies the answer is a denial, if it asks at least `ask`, and if it allows it allows nothing.
 */
import { continueTool, type Risk } from '../base/tool-call.ts';
import type { Candidate, CompiledPolicy, CompiledRule } from './compiled-policy.ts';
import { allowsAnything, applyMode, modeReason, type Mode, type ModeFacts, actions, type Action } from './modes.ts';
import { partMatchers, type MatchedCall, type PartMatcher } from './part-matchers.ts';
import { allowsOnlyCommand, leftOutBy } from './whole-call.ts';
import { standardRiskDefaults, type AdvisorSettings, type Always, type AskSettings, type Policy } from './policy.ts';
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
  /** The widest grant that lifts this ask; absent: the default for the call. */
  always?: Always;
}

export interface LayerCall extends Omit<MatchedCall, 'argsLength'> {
  tool: string;
  mode: ModeFacts;
  /** Arguments beside a command that its tool did not declare harmless. */
  undeclared: readonly string[];
  meter: RulingMeter;
}

interface Matched {
  last?: CompiledRule;
  /** An allow rule after `last` that leaves out arguments, as the ask that it stands for. */
  partial?: CompiledRule;
  /** In both lists, the last rule comes first. */
  denied: CompiledRule[];
  failed: { rule: CompiledRule; problem: string }[];
}

/**
 * How many rules times parts of a command one ruling tries; it takes about 40 ms. Beyond that, no rule of the tool can
 * be evaluated.
 */
export const maxPartMatches = 50_000;
/** What one of them costs, in units of `maxMatchWork`. */
const workOfPartMatch = 100;

/** How many parts a command may have that so many rules are about. */
export function mostParts(rules: number): number {
  return Math.floor(maxPartMatches / rules);
}

/** The answer to report, followed by all others that are as strict. Each ask names its advisor, if it has one. */
export function layerAnswers(policy: CompiledPolicy, call: LayerCall): readonly LayerAnswer[] {
  const { advisor } = policy;
  const answers = answersOf(policy, call);
  if (advisor === undefined) return answers;
  return answers.map((answer) => {
    const { action, ask } = answer;
    if (action !== 'ask' || ask?.advisor !== undefined) return answer;
    // Who may answer in the place of named people, the rule that names them must say itself.
    return { ...answer, ask: { ...ask, advisor: namesPeople(ask) ? notApproving(advisor) : advisor } };
  });
}

function namesPeople({ reviewers, quorum, oneOfEach, verified }: AskSettings = {}): boolean {
  return [reviewers, quorum, oneOfEach].some((value) => value !== undefined) || verified === true;
}

function notApproving({ name, timeoutMs }: AdvisorSettings): AdvisorSettings {
  return { name, ...(timeoutMs !== undefined && { timeoutMs }) };
}

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
    const few = index()?.mayMatch(call.subjects.args());
    return partAnswers(policy, matchedBy(few ?? all, whole, call), call);
  }
  return strictest(parts.flatMap((part) => partAnswers(policy, matchedBy(all, part, call), call)));
}

/** The strictest answers in order, except that the first one by a rule, if any, comes first. */
export function strictest(answers: readonly LayerAnswer[]): readonly LayerAnswer[] {
  if (answers.length === 1) return answers;
  const most = answers.reduce((so, { action }) => Math.max(so, actions.indexOf(action)), 0);
  const best = answers.filter(({ action }) => actions.indexOf(action) === most);
  const reported = best.find(({ rule }) => rule !== null) ?? best[0]!;
  return [reported, ...best.filter((answer) => answer !== reported)];
}

/** The answer to a call that no rule matches. Whether a run goes on beyond a limit is always asked. */
export function riskDefault(written: Policy['riskDefaults'], { tool, risk }: { tool: string; risk: Risk }): Action {
  if (tool === continueTool) return 'ask';
  return risk === 'unknown' ? 'ask' : (written[risk] ?? standardRiskDefaults[risk]);
}

function matchedBy(candidates: readonly Candidate[], part: PartMatcher, call: LayerCall): Matched {
  const found: Matched = { denied: [], failed: [] };
  for (const candidate of candidates) {
    const { rule } = candidate;
    // A rule for every tool was not written for a request of the run itself.
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
    if (failed !== undefined || leftOut.length > 0) continue;
    found.last = rule;
    found.partial = undefined;
    if (rule.action === 'deny') found.denied.unshift(rule);
  }
  return found;
}

/**
 * If a rule could not be evaluated, the answer is at least its action, and at least any deny that matched. If the last
 * rule that matched leaves out arguments, the answer is at least `ask`, and at least the answer without that rule.
 */
function partAnswers(
  policy: CompiledPolicy,
  { last, partial, denied, failed }: Matched,
  call: LayerCall,
): readonly LayerAnswer[] {
  const own = last === undefined ? unruled(policy, call, partial?.reason ?? unmet(failed)) : ruled(policy, call, last);
  const answers = [own];
  if (partial !== undefined) answers.unshift(ruled(policy, call, partial));
  if (failed.length === 0) return strictest(answers);
  answers.push(...denied.map((rule) => ruled(policy, call, rule)));
  const counting = failed.filter(({ rule }) => rule.action !== 'allow');
  const found = counting.map(({ rule, problem }) => answerOfFailedRule(policy, call, rule, problem));
  // Reviewers are told first what could not be evaluated. A model is told first what it cannot mend.
  const asking = found.filter(({ action }) => action === 'ask');
  return strictest([...asking, ...answers, ...found.filter((answer) => !asking.includes(answer))]);
}

function ruled({ mode }: CompiledPolicy, call: LayerCall, rule: CompiledRule): LayerAnswer {
  const { action, id, layer, reason, ask } = rule;
  const applied = action === 'deny' ? action : withoutAllow(call, applyMode(mode, action, action, call.mode)).action;
  if (applied !== action) return byMode(mode, applied, call.tool);
  return { action, rule: id, layer, reason, ask, always: ask?.always };
}

/** Why the last rule that might have allowed the call did not: the model can mend its call, and reviewers know. */
function unmet(failed: Matched['failed']): string | undefined {
  const allow = failed.find(({ rule }) => rule.action === 'allow');
  return allow && notEvaluated(allow);
}

/** No mode lets a run go on beyond a limit without asking. */
function withoutAllow<Applied extends { action: Action }>({ tool }: LayerCall, applied: Applied): Applied {
  return tool === continueTool && applied.action === 'allow' ? { ...applied, action: 'ask', decided: false } : applied;
}

function notEvaluated({ rule, problem }: Matched['failed'][number]): string {
  return `rule ${rule.id} cannot be evaluated: ${problem}`;
}

/** `reason`: to report with a risk default that does not allow. */
function unruled({ mode, riskDefaults }: CompiledPolicy, call: LayerCall, reason?: string): LayerAnswer {
  const standard = riskDefault(riskDefaults, { tool: call.tool, risk: call.mode.risk });
  const { action, decided } = withoutAllow(call, applyMode(mode, 'none', standard, call.mode));
  if (action === 'allow' && call.shell !== undefined && !allowsAnything(mode)) {
    const why = reason ?? 'No rule allows a part of the command';
    return { action: 'ask', rule: null, layer: 'default', reason: why };
  }
  if (decided) return byMode(mode, action, call.tool);
  const why = call.tool === continueTool ? 'The run has reached a limit' : reason;
  return { action, rule: null, layer: 'default', ...(action !== 'allow' && { reason: why }) };
}

/**
 * The answer of a rule that cannot be evaluated: a denial if the rule denies, else an ask. A mode may make a denial of the
 * ask, and never an approval.
 */
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
  if (action === 'deny') return byMode(mode, action, call.tool);
  return {
    action: 'ask',
    rule: rule.id,
    layer: rule.layer,
    reason,
    ask: askOfFailing(rule, advisor),
    always: rule.ask?.always,
  };
}

/** No advisor approves a call of which it is unknown what the policy says. */
function askOfFailing({ action, ask }: CompiledRule, ofPolicy: AdvisorSettings | undefined): AskSettings | undefined {
  const own = action === 'ask' ? ask : undefined;
  const advisor = own?.advisor ?? ofPolicy;
  return advisor === undefined || advisor === false ? own : { ...own, advisor: notApproving(advisor) };
}

function byMode(mode: Mode, action: Action, tool: string): LayerAnswer {
  const reason = modeReason(mode, action, tool);
  return { action, rule: null, layer: 'default', reason, mode };
}
