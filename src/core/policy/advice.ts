/** What advisors answer about a call, and how this changes the ruling (docs/advisors.md): the strictest decides. */
import { type Assessment, moreSevere, wantsApproval } from '../assess/assessment.ts';
import { isObject } from '../base/json.ts';
import { shortened } from '../base/text.ts';
import { severities, type Risk, type Severity } from '../base/tool-call.ts';
import { actions, isAsked } from './modes.ts';
import { narrowest } from './grants.ts';
import type { AdvisorSettings } from './policy.ts';
import type { Ruling } from './ruling.ts';

export const advisorAnswers = ['ask', 'deny', 'approve'] as const;

/** The answer of an advisor about one call. */
export interface AdvisorAnswer {
  /** `ask`: reviewers decide. `approve` counts only where the policy says `may_approve`. */
  answer: (typeof advisorAnswers)[number];
  /** Raises the call's severity; a lower one changes nothing. */
  severity?: Severity;
  /** Shown to reviewers on the card, and given to the model with a denial. It is cut to 500 characters. */
  reason?: string;
}

/** The answer of one advisor, as the run keeps it. */
export interface Advice extends AdvisorAnswer {
  advisor: string;
  /** Why there is no answer; `answer` is then `ask`. */
  failure?: string;
}

/** The severity to which an advisor raised a call. */
export interface Raised {
  severity: Severity;
  advisor: string;
}

/** The longest reason or failure, in UTF-16 code units. */
export const longestAdvice = 500;
export const defaultAdvisorTimeoutMs = 30_000;
const memberNames: readonly string[] = ['answer', 'severity', 'reason'];

/** Reads an answer strictly: an unknown member or value is a problem. An empty reason counts as none. */
export function readAdvisorAnswer(value: unknown): AdvisorAnswer | { problem: string } {
  if (!isObject(value)) return { problem: 'expected an object' };
  const unknown = Object.keys(value).find((name) => !memberNames.includes(name));
  if (unknown !== undefined) return { problem: `expected only ${memberNames.join(', ')}` };
  const answer = advisorAnswers.find((each) => each === value.answer);
  if (answer === undefined) return { problem: `answer: expected one of ${advisorAnswers.join(', ')}` };
  const severity = severities.find((each) => each === value.severity);
  if (severity === undefined && value.severity !== undefined) {
    return { problem: `severity: expected one of ${severities.join(', ')}` };
  }
  const { reason = '' } = value;
  if (typeof reason !== 'string') return { problem: 'reason: expected text' };
  const text = shortened(reason.trim(), longestAdvice).replace(/\p{Surrogate}/gu, '\uFFFD');
  return { answer, ...(severity !== undefined && { severity }), ...(text !== '' && { reason: text }) };
}

/** One answer for each advisor. Unreadable answers count as failures: another version may have written them. */
export function readAdvice(advisors: readonly Pick<AdvisorSettings, 'name'>[], recorded: unknown): Advice[] {
  return advisors.map(({ name }) => {
    const items: unknown[] = Array.isArray(recorded) ? recorded : [];
    const found = items.find((each) => isObject(each) && each.advisor === name);
    if (!isObject(found)) return failedAdvice(name, 'it gave no answer');
    const { advisor: _, failure, ...rest } = found;
    if (typeof failure === 'string') return failedAdvice(name, shortened(failure, longestAdvice));
    const read = readAdvisorAnswer(rest);
    return 'problem' in read ? failedAdvice(name, read.problem) : { advisor: name, ...read };
  });
}

/** The advice of an advisor that gave no answer: reviewers decide, and read why it failed. */
export function failedAdvice(advisor: string, failure: string): Advice {
  return { advisor, answer: 'ask', failure };
}

/** The advice without its reasons, which may quote arguments. */
export function withoutReasons(advice: readonly Advice[]): Advice[] {
  return advice.map((each) => {
    const { reason: _, ...rest } = each;
    return rest;
  });
}

const verbs = { ask: 'asks about', deny: 'denies', approve: 'approves' } as const;

/** What an advisor answered, for the model, the journal and the card. */
export function adviceSentence({ advisor, answer, reason, failure }: Advice): string {
  if (failure !== undefined) return `Advisor ${advisor} gave no answer: ${failure}`;
  const text = `Advisor ${advisor} ${verbs[answer]} this call`;
  return reason === undefined ? text : `${text}: ${reason}`;
}

/** The advisors that the asking rules name: each once, with the longest time-out that any rule gives it. */
export function advisorsOf({
  action,
  ask,
}: Pick<Ruling, 'action' | 'ask'>): Required<Omit<AdvisorSettings, 'mayApprove'>>[] {
  if (!isAsked(action)) return [];
  const found = new Map<string, number>();
  for (const { advisor } of ask?.by ?? []) {
    if (advisor === undefined || advisor === false) continue;
    const { name, timeoutMs = defaultAdvisorTimeoutMs } = advisor;
    found.set(name, Math.max(found.get(name) ?? 0, timeoutMs));
  }
  return [...found].map(([name, timeoutMs]) => ({ name, timeoutMs }));
}

/** The highest severity that an advisor gives; undefined if none gives one. */
export function raisedBy(advice: readonly Advice[]): Raised | undefined {
  return advice.reduce<Raised | undefined>((highest, { advisor, severity }) => {
    if (severity === undefined) return highest;
    const isHigher = highest === undefined || moreSevere(highest.severity, severity) !== highest.severity;
    return isHigher ? { severity, advisor } : highest;
  }, undefined);
}

/** The assessment with its severity raised; the same object if its severity is as high already. */
export function raise(assessment: Assessment, raised: Raised | undefined): Assessment {
  if (raised === undefined || moreSevere(assessment.severity, raised.severity) === assessment.severity) {
    return assessment;
  }
  const { severity, advisor } = raised;
  return {
    ...assessment,
    severity,
    reasons: [...assessment.reasons, `advisor ${advisor} says ${severity}`],
    requiresApproval: assessment.requiresApproval || wantsApproval(severity),
  };
}

/** The stricter of two rulings, with the severity of `after`. If both ask, the terms are joined, to loosen nothing. */
export function stricterRuling(before: Ruling, after: Ruling): Ruling {
  const { severity } = after;
  // The actions are in the order of their strictness.
  const byStrictness = actions.indexOf(before.action) - actions.indexOf(after.action);
  if (byStrictness < 0) return after;
  if (byStrictness > 0) return { ...before, severity };
  const asking = [after.ask, before.ask].filter((each) => each !== undefined);
  if (asking.length === 0) return after;
  const by = new Map(asking.flatMap((each) => each.by).map((each) => [JSON.stringify(each), each]));
  return { ...after, ask: { always: narrowest(asking.map(({ always }) => always)), by: [...by.values()] } };
}

/**
 * Applies the answers of advisors to a ruling that asks; other rulings stay. One denial denies the call. The call is
 * allowed if each asking rule names an advisor that may approve and does, unless the call is destructive, cannot be
 * undone, was denied by a reviewer before, or needs a person (`peopleOnly`).
 */
export function adviseRuling(
  ruling: Ruling,
  advice: readonly Advice[],
  call: { risk: Risk; reversible: boolean; wasDenied?: boolean; peopleOnly?: boolean },
): Ruling {
  const { risk, reversible, wasDenied = false, peopleOnly = false } = call;
  if (!isAsked(ruling.action) || advice.length === 0) return ruling;
  const { severity, engine } = ruling;
  const consulted = advisorsOf(ruling);
  const counted = advice.filter(({ advisor }) => consulted.some(({ name }) => name === advisor));
  const decided = (action: 'deny' | 'allow', by: Advice): Ruling => {
    return { action, rule: by.advisor, layer: 'advisor', reason: adviceSentence(by), severity, engine };
  };
  const denial = counted.find(({ answer }) => answer === 'deny');
  if (denial !== undefined) return decided('deny', denial);
  const isHarmless = (risk === 'read_only' || risk === 'write') && reversible && !wasDenied && !peopleOnly;
  const by = ruling.ask?.by ?? [];
  const [approval] = counted;
  const isApproved = counted.every(({ answer }) => answer === 'approve');
  // Each rule that asks must name an advisor that may approve in its place.
  const isEnough = by.every(({ advisor }) => {
    if (advisor === undefined || advisor === false || advisor.mayApprove !== true) return false;
    return counted.some((each) => each.advisor === advisor.name);
  });
  return isHarmless && approval !== undefined && isApproved && isEnough ? decided('allow', approval) : ruling;
}
