/**
 * The terms of one request, merged from all rules, risk defaults and modes that ask (docs/policy-reference.md). Of
 * each term, the strictest value counts, so that no layer can loosen the terms of another.
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
  /** How long the request waits; null: for ever. The longest wait counts if the call runs at the deadline. */
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
  /** How long before the deadline people are warned, perhaps longer than the wait. The longest setting counts. */
  warnBeforeMs: number | null;
  /** The time between reminders. The shortest counts, but lower layers keep to the minimum of the ceiling. */
  remindMs: number | null;
  /** The people to notify, ordered by time. Steps of lower layers are kept apart by the ceiling's minimum. */
  escalate: readonly EscalationStep[];
  /** The widest grant that an approval may leave; false: none. */
  always: Always;
  /** True: no channel may answer in its own name, because the call may have run. Absent: channels may. */
  noChannels?: true;
  /** `withdraw` if a rule says that a message of the user withdraws the request. Absent: the card shows the message. */
  whenUserWrites?: 'withdraw';
}

/**
 * What the terms of a call depend on. `shell` is present for a shell command. `mayHaveRun`: the call was started
 * before. So it never runs at a deadline, only people answer it, and their answer covers no other call.
 */
interface AskedCall {
  risk: Risk;
  shell?: unknown;
  mayHaveRun?: true | undefined;
}

/**
 * Merges the terms of an ask, which `ruling` must be: the answer of `evaluate` under the same layers. Without terms,
 * one denial settles the request, and the person who started the run may not approve.
 */
export function askTermsOf(
  layers: PolicyLayers,
  ruling: Pick<Ruling, 'ask' | 'rule' | 'severity'>,
  call: AskedCall,
): AskTerms {
  const leastMs = shortestReminderMs(layers);
  const asking = withSpacedSteps(ruling.ask?.by ?? [], leastMs);
  const requirements = requirementsOf(asking);
  const warnings = asking.flatMap(({ warnBeforeMs }) => warnBeforeMs ?? []);
  // Below the ceiling, a policy must not flood reviewers.
  const reminders = asking.flatMap(({ layer, remindMs = [] }) =>
    typeof remindMs === 'number' && layer !== 'ceiling' ? Math.max(remindMs, leastMs) : remindMs,
  );
  // A mode or a risk default (`rule: null`) admits any grant, as in ruling.ts.
  const usualGrant = ruling.rule === null ? 'tool' : defaultAlways(call);
  const runsUnanswered =
    !call.mayHaveRun && mayRunUnanswered(ruling.severity, call.risk) && allowsOnTimeout(layers, asking);
  return {
    // Before a call runs unanswered, reviewers get the longest time that a layer gives them; else the shortest counts.
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
    always: call.mayHaveRun ? false : (ruling.ask?.always ?? usualGrant),
  };
}

/**
 * The terms of a request that waits `waitMs` in all; null: for ever. If reviewers get less time than the terms give
 * them to say no, the deadline denies the call instead of running it.
 */
export function termsOfWait(terms: AskTerms, waitMs: number | null): AskTerms {
  const isLongEnough = waitMs === null || (terms.timeoutMs !== null && waitMs >= terms.timeoutMs);
  return isLongEnough ? terms : { ...terms, onTimeout: 'deny' };
}

/** The reviewers who count for a requirement `waitedMs` after the request was opened; empty: anyone. */
export function reviewersAt({ reviewers, escalate }: Requirement, waitedMs: number): readonly string[] {
  if (reviewers.length === 0) return reviewers;
  const added = escalate.filter(({ afterMs }) => afterMs <= waitedMs).flatMap(({ to }) => to);
  return [...new Set([...reviewers, ...added])];
}

/** True if both terms demand the same of reviewers. Waits and other times may differ. */
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

/** Delays the steps of each layer below the ceiling until they are `leastMs` after the opening and one another. */
function withSpacedSteps(asking: Asking, leastMs: number): Asking {
  const bySource = Map.groupBy(asking, sourceOf);
  const delayedBySource = new Map(
    [...bySource].map(([source, rules]) => {
      const timesMs = rules.flatMap(({ escalate = [] }) => escalate.map(({ afterMs }) => afterMs));
      return [source, spacedTimes([...new Set(timesMs)], leastMs)];
    }),
  );
  return asking.map((rule) => {
    if (rule.layer === 'ceiling' || rule.escalate === undefined) return rule;
    const delayed = delayedBySource.get(sourceOf(rule))!;
    return { ...rule, escalate: rule.escalate.map(({ afterMs, to }) => ({ afterMs: delayed.get(afterMs)!, to })) };
  });
}

/** Maps each time to its delayed time. Two delayed times are equal, or at least `leastMs` apart. */
function spacedTimes(timesMs: readonly number[], leastMs: number): Map<number, number> {
  let lastMs = 0;
  return new Map(
    timesMs
      .toSorted((one, other) => one - other)
      .map((afterMs) => {
        // A step that is due before the last delayed one is taken together with it.
        if (afterMs > lastMs) lastMs = Math.max(afterMs, lastMs + leastMs);
        return [afterMs, lastMs];
      }),
  );
}

/** The steps of all requirements, in order. Below the ceiling, steps of one layer at the same time become one. */
function noticesOf(requirements: readonly Requirement[]): EscalationStep[] {
  const notices = new Map<string, EscalationStep>();
  for (const [index, { layer, parent, escalate }] of requirements.entries()) {
    for (const [position, { afterMs, to }] of escalate.entries()) {
      const joinedBy = layer === 'ceiling' ? [index, position] : [sourceOf({ layer, parent }), afterMs];
      const key = JSON.stringify(joinedBy);
      notices.set(key, { afterMs, to: [...new Set([...(notices.get(key)?.to ?? []), ...to])] });
    }
  }
  return [...notices.values()].toSorted((one, other) => one.afterMs - other.afterMs);
}

/** Names the layer that a rule comes from: the ceiling, a calling run, or agent and run together. */
function sourceOf({ layer, parent }: Pick<Requirement, 'parent'> & { layer: string }): string {
  return layer === 'ceiling' ? layer : `${parent ?? 'run'}`;
}

function namesReviewers({ reviewers, quorum, oneOfEach }: AskSettings): boolean {
  return reviewers !== undefined || quorum !== undefined || oneOfEach !== undefined;
}

/** The distinct requirements that name people or need several approvals. Without any: one approval, by anyone. */
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

/** True if a call may run unanswered: its severity must be low, and its risk known and not destructive. */
function mayRunUnanswered(severity: Severity, risk: Risk): boolean {
  return (severity === 'safe' || severity === 'low') && (risk === 'read_only' || risk === 'write');
}

/**
 * True if the ceiling and every other policy let an unanswered call run. A policy does if all its asking rules do.
 * For a rule that does not say, and for a policy without asking rules, its own setting counts. Default: deny.
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
