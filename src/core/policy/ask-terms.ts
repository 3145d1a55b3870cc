/**
 * The terms of one request, merged from all rules, risk defaults and modes that ask (docs/policy-reference.md). The
 * strictest value of each term counts, so no layer can loosen another's terms.
 */
import { canonicalJson } from '../base/canonical-json.ts';
import { defaultAlways } from './grants.ts';
import { limitsOf, shortestReminderMs, vetoWindowMs } from './limits.ts';
import type { Always, AskSettings, Policy, PolicyLayers } from './policy.ts';
import type { Ruling } from './ruling.ts';
import type { Json, Risk, Severity } from '../base/tool-call.ts';

/** One rule's demand for approvals. A request has to meet each of its requirements separately. */
export interface Requirement {
  /** The layer whose directory resolves groups: a run's directory must not fill a group that its ceiling names. */
  layer: 'ceiling' | 'parent' | 'run';
  /** For layer `parent`: the index in `parents`, from 0. */
  parent?: number;
  /** Names, or `group:NAME`; empty: anyone may approve. See `reviewersAt`. */
  reviewers: readonly string[];
  /** Approvals needed from these reviewers. */
  quorum: number;
  /** The approvals must include one for each of these. */
  oneOfEach: readonly string[];
  /** The rule's own escalation steps. They add reviewers to this requirement only: a run must not widen its ceiling. */
  escalate: readonly EscalationStep[];
}

export interface EscalationStep {
  /** Milliseconds after the request was opened. */
  afterMs: number;
  to: readonly string[];
}

/** What a request demands of its reviewers, merged from the rules that ask. Durations in milliseconds. */
export interface AskTerms {
  /** The wait; null: for ever, if a ceiling permits it. The longest counts if the call runs at the deadline. */
  timeoutMs: number | null;
  /** `allow`: the call runs if no decision comes in time. Severity, risk and ceiling are already taken into account. */
  onTimeout: 'deny' | 'allow';
  /** Never empty. If no rule demands anything: one approval, by anyone. */
  requirements: readonly Requirement[];
  /** True: a rule sets reviewers, quorum or one_of_each, so a decision without a reviewer does not count. */
  named: boolean;
  /** True if one denial settles the request. */
  veto: boolean;
  verified: boolean;
  /** True if the person who started the run may approve. */
  allowSelf: boolean;
  /** How long before the deadline people are warned; may exceed the time-out. The longest setting counts. */
  warnBeforeMs: number | null;
  /** The time between reminders. The shortest counts; the ceiling limits how short lower layers may make it. */
  remindMs: number | null;
  /** The people to notify, ordered by time. The ceiling limits how close together the steps of lower layers may be. */
  escalate: readonly EscalationStep[];
  /** The widest grant that an approval may leave; false: none. */
  always: Always;
  /** True: no channel answers in its own name, because the call may have run. Absent: channels may. */
  noChannels?: true;
  /** `withdraw` if a rule says that a message of the user withdraws the request. Absent: the card shows the message. */
  whenUserWrites?: 'withdraw';
}

/**
 * What the terms of a call depend on. `shell` is present for a shell command. `mayHaveRun`: the call was started
 * before, so it never runs at a deadline, an answer to it answers no other call, and only people answer it.
 */
interface AskedCall {
  risk: Risk;
  shell?: unknown;
  mayHaveRun?: true | undefined;
}

/** Merges the terms of an ask. `ruling`: that of `evaluate` under the same layers; it must be an ask. */
export function askTermsOf(
  layers: PolicyLayers,
  ruling: Pick<Ruling, 'ask' | 'rule' | 'severity'>,
  call: AskedCall,
): AskTerms {
  const leastMs = shortestReminderMs(layers);
  const asking = withSpacedSteps(ruling.ask?.by ?? [], leastMs);
  const requirements = requirementsOf(asking);
  const warnings = asking.flatMap(({ warnBeforeMs }) => warnBeforeMs ?? []);
  const reminders = asking.flatMap(({ layer, remindMs = [] }) =>
    typeof remindMs === 'number' && layer !== 'ceiling' ? Math.max(remindMs, leastMs) : remindMs,
  );
  const runsUnanswered =
    !call.mayHaveRun && mayRunUnanswered(ruling.severity, call.risk) && allowsOnTimeout(layers, asking);
  return {
    timeoutMs: runsUnanswered ? vetoWindowMs(layers, asking) : limitsOf(layers, ruling).timeoutMs,
    onTimeout: runsUnanswered ? 'allow' : 'deny',
    requirements,
    named: asking.some(namesReviewers),
    veto: asking.length === 0 || asking.some(({ veto = true }) => veto),
    verified: asking.some(({ verified = false }) => verified),
    allowSelf: asking.length > 0 && asking.every(({ allowSelf = false }) => allowSelf),
    warnBeforeMs: warnings.length === 0 ? null : Math.max(...warnings),
    remindMs: reminders.length === 0 ? null : Math.min(...reminders),
    escalate: noticesOf(requirements),
    ...(asking.some(({ whenUserWrites }) => whenUserWrites === 'withdraw') && { whenUserWrites: 'withdraw' as const }),
    ...(call.mayHaveRun && { noChannels: true as const }),
    always: call.mayHaveRun ? false : (ruling.ask?.always ?? (ruling.rule === null ? 'tool' : defaultAlways(call))),
  };
}

/**
 * The terms of a request that waits `waitMs` in all; null: for ever. If that is less than the time-out in the terms,
 * the deadline denies instead of running the call: reviewers had less time to say no.
 */
export function termsOfWait(terms: AskTerms, waitMs: number | null): AskTerms {
  const isLongEnough = waitMs === null || (terms.timeoutMs !== null && waitMs >= terms.timeoutMs);
  return isLongEnough ? terms : { ...terms, onTimeout: 'deny' };
}

/** The reviewers whose approvals count for a requirement `waitedMs` after the request was opened; empty: anyone. */
export function reviewersAt({ reviewers, escalate }: Requirement, waitedMs: number): readonly string[] {
  if (reviewers.length === 0) return reviewers;
  const added = escalate.filter(({ afterMs }) => afterMs <= waitedMs).flatMap(({ to }) => to);
  return [...new Set([...reviewers, ...added])];
}

/** True if both terms demand the same of reviewers; times are ignored. */
export function sameDemands(one: AskTerms, other: AskTerms): boolean {
  const demands = ({ requirements, named, veto, verified, allowSelf }: AskTerms): string =>
    JSON.stringify([requirements, named, veto, verified, allowSelf]);
  return demands(one) === demands(other);
}

/** True if all terms are equal except the time-out, which no longer matters once a request is open. */
export function sameTerms(one: AskTerms, other: AskTerms): boolean {
  const whileWaiting = (terms: AskTerms): string => canonicalJson({ ...terms, timeoutMs: null } as unknown as Json);
  return whileWaiting(one) === whileWaiting(other);
}

type Asking = NonNullable<Ruling['ask']>['by'];

/** Delays steps below the ceiling until they are `leastMs` apart and after the opening, separately for each layer. */
function withSpacedSteps(asking: Asking, leastMs: number): Asking {
  const times = new Map<string, Set<number>>();
  for (const rule of asking) {
    const ofLayer = times.get(sourceOf(rule)) ?? new Set();
    for (const { afterMs } of rule.escalate ?? []) ofLayer.add(afterMs);
    times.set(sourceOf(rule), ofLayer);
  }
  const spaced = new Map([...times].map(([source, ofLayer]) => [source, spacedTimes([...ofLayer], leastMs)]));
  return asking.map((rule) => {
    if (rule.layer === 'ceiling' || rule.escalate === undefined) return rule;
    const dueMs = spaced.get(sourceOf(rule))!;
    return { ...rule, escalate: rule.escalate.map(({ afterMs, to }) => ({ afterMs: dueMs.get(afterMs)!, to })) };
  });
}

/** For each of these times, the delayed time: at least `leastMs` after the one before. */
function spacedTimes(timesMs: readonly number[], leastMs: number): Map<number, number> {
  let lastMs = 0;
  return new Map(
    timesMs
      .toSorted((one, other) => one - other)
      .map((afterMs) => {
        if (afterMs > lastMs) lastMs = Math.max(afterMs, lastMs + leastMs);
        return [afterMs, lastMs];
      }),
  );
}

/** The steps of all requirements, in order. Steps of one layer below the ceiling that are due together become one. */
function noticesOf(requirements: readonly Requirement[]): EscalationStep[] {
  const notices = new Map<string, EscalationStep>();
  for (const [index, { layer, parent, escalate }] of requirements.entries()) {
    const isApart = layer === 'ceiling';
    for (const [at, { afterMs, to }] of escalate.entries()) {
      const key = JSON.stringify(isApart ? [index, at] : [sourceOf({ layer, parent }), afterMs]);
      notices.set(key, { afterMs, to: [...new Set([...(notices.get(key)?.to ?? []), ...to])] });
    }
  }
  return [...notices.values()].toSorted((one, other) => one.afterMs - other.afterMs);
}

/** The list of rules that a rule comes from: the ceiling's, a calling run's, or that of agent and run. */
function sourceOf({ layer, parent }: Pick<Requirement, 'parent'> & { layer: string }): string {
  return layer === 'ceiling' ? layer : `${parent ?? 'run'}`;
}

function namesReviewers({ reviewers, quorum, oneOfEach }: AskSettings): boolean {
  return reviewers !== undefined || quorum !== undefined || oneOfEach !== undefined;
}

/** The distinct requirements that name people or need several approvals; if there are none, one approval by anyone. */
function requirementsOf(asking: Asking): Requirement[] {
  const all = asking.map(
    ({ layer, parent, reviewers = [], quorum = 1, oneOfEach = [], escalate = [] }): Requirement => ({
      layer: layer === 'agent' ? 'run' : layer,
      ...(parent !== undefined && { parent }),
      reviewers,
      quorum,
      oneOfEach,
      escalate,
    }),
  );
  const distinct = new Map(all.map((each) => [JSON.stringify(each), each]));
  const demanding = [...distinct.values()].filter(
    ({ reviewers, quorum, oneOfEach, escalate }) =>
      quorum > 1 || [reviewers, oneOfEach, escalate].some((list) => list.length > 0),
  );
  return demanding.length > 0 ? demanding : [{ layer: 'run', reviewers: [], quorum: 1, oneOfEach: [], escalate: [] }];
}

/** True if a call may run without an answer: only if its severity is low and its risk is known and not destructive. */
function mayRunUnanswered(severity: Severity, risk: Risk): boolean {
  return (severity === 'safe' || severity === 'low') && (risk === 'read_only' || risk === 'write');
}

/**
 * True if the ceiling, each parent and the run's policy, if any, all let an unanswered call run. A layer does if all
 * its rules that ask do; a rule that does not say, or a layer without such rules, follows its policy. Default: deny.
 */
function allowsOnTimeout({ ceiling, parents = [], run }: PolicyLayers, asking: Asking): boolean {
  const allows = (policy: Policy, by: Asking): boolean => {
    const { onTimeout: byPolicy = 'deny' } = policy.approval;
    return by.length === 0 ? byPolicy === 'allow' : by.every(({ onTimeout = byPolicy }) => onTimeout === 'allow');
  };
  const ofCeiling = asking.filter(({ layer }) => layer === 'ceiling');
  const ofRun = asking.filter(({ layer }) => layer === 'agent' || layer === 'run');
  const ofParent = (index: number) => asking.filter(({ parent }) => parent === index);
  return (
    ceiling !== undefined &&
    allows(ceiling, ofCeiling) &&
    parents.every((policy, index) => allows(policy, ofParent(index))) &&
    (run === undefined || allows(run, ofRun))
  );
}
