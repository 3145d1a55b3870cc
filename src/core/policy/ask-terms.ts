/**
 * What one open request demands, of everything that asks for it: rules, risk defaults and modes of both layers (policy
 * section 3). Each brings its own terms, unwritten ones by their defaults, and the strictest of each counts; no layer's
 * terms ever loosen another's.
 */
import { canonicalJson } from '../base/canonical-json.ts';
import { defaultAlways } from './grants.ts';
import { limitsOf } from './limits.ts';
import type { Always, AskSettings, Policy, PolicyLayers } from './policy.ts';
import type { Ruling } from './ruling.ts';
import type { Json, Risk, Severity } from '../base/tool-call.ts';

/** Who has to approve, as one rule wants it. All requirements of a request have to be met, each by itself. */
export interface Requirement {
  /** Whose directory says who belongs to a group: a run's own must not fill a group that its ceiling names. */
  layer: 'ceiling' | 'parent' | 'run';
  /** For layer `parent`: which of `parents`, from 0. */
  parent?: number;
  /** Names, or `group:NAME`; empty: anyone. See `reviewersAt`. */
  reviewers: readonly string[];
  /** Approvals by those. */
  quorum: number;
  /** Among the approvals there is one of each of these. */
  oneOfEach: readonly string[];
  /** The rule's own steps. They add reviewers to this requirement, and to no other: a run must not widen its ceiling. */
  escalate: readonly EscalationStep[];
}

export interface EscalationStep {
  /** Milliseconds after the request was opened. */
  afterMs: number;
  to: readonly string[];
}

/** Durations in milliseconds. */
export interface AskTerms {
  /** Null: for ever, only where the ceiling's `max_timeout` is never. */
  timeoutMs: number | null;
  /** `allow`: the call runs when nobody decided in time. Severity, risk and ceiling have been asked already. */
  onTimeout: 'deny' | 'allow';
  /** Never empty. Where no rule says anything: one approval, by anyone. */
  requirements: readonly Requirement[];
  /** True: a rule sets reviewers, quorum or one_of_each, so that a decision without a reviewer does not count. */
  named: boolean;
  /** One denial settles. */
  veto: boolean;
  verified: boolean;
  /** Whoever started the run may approve. */
  allowSelf: boolean;
  /** Before the deadline; may be longer than the time-out. Of several the longest: the earliest warning. */
  warnBeforeMs: number | null;
  /** Of several the shortest. */
  remindMs: number | null;
  /** The steps of all requirements in order of time: whom to tell. Who may approve then: `reviewersAt`. */
  escalate: readonly EscalationStep[];
  /** The widest grant that an approval may leave; false: none. */
  always: Always;
}

/** The call as far as its terms depend on it. `shell`: present where its subject is a shell command. */
export interface AskedCall {
  risk: Risk;
  shell?: unknown;
}

/**
 * The terms of an ask, merged. `ruling` is what `evaluate` said about the call under the same layers. Total; for a
 * ruling that is no ask the terms mean nothing.
 */
export function askTermsOf(
  layers: PolicyLayers,
  ruling: Pick<Ruling, 'ask' | 'rule' | 'severity'>,
  call: AskedCall,
): AskTerms {
  const asking = ruling.ask?.by ?? [];
  const requirements = requirementsOf(asking);
  const warnings = asking.flatMap(({ warnBeforeMs }) => warnBeforeMs ?? []);
  const reminders = asking.flatMap(({ remindMs }) => remindMs ?? []);
  return {
    timeoutMs: limitsOf(layers, ruling).timeoutMs,
    onTimeout: mayRunUnanswered(ruling.severity, call.risk) && allowsOnTimeout(layers, asking) ? 'allow' : 'deny',
    requirements,
    named: asking.some(namesReviewers),
    veto: asking.length === 0 || asking.some(({ veto = true }) => veto),
    verified: asking.some(({ verified = false }) => verified),
    allowSelf: asking.length > 0 && asking.every(({ allowSelf = false }) => allowSelf),
    warnBeforeMs: warnings.length === 0 ? null : Math.max(...warnings),
    remindMs: reminders.length === 0 ? null : Math.min(...reminders),
    escalate: requirements.flatMap(({ escalate }) => escalate).toSorted((one, other) => one.afterMs - other.afterMs),
    always: ruling.ask?.always ?? (ruling.rule === null ? 'tool' : defaultAlways(call)),
  };
}

/** Whose approvals count for a requirement that long after the request was opened; empty: anyone's. */
export function reviewersAt({ reviewers, escalate }: Requirement, waitedMs: number): readonly string[] {
  if (reviewers.length === 0) return reviewers;
  const added = escalate.filter(({ afterMs }) => afterMs <= waitedMs).flatMap(({ to }) => to);
  return [...new Set([...reviewers, ...added])];
}

/** Whether what `one` demands of reviewers is what `other` does; times aside. */
export function sameDemands(one: AskTerms, other: AskTerms): boolean {
  const demands = ({ requirements, named, veto, verified, allowSelf }: AskTerms): string =>
    JSON.stringify([requirements, named, veto, verified, allowSelf]);
  return demands(one) === demands(other);
}

/** Whether all that a waiting request goes by is the same. Its deadline was set when it was opened. */
export function sameTerms(one: AskTerms, other: AskTerms): boolean {
  const whileWaiting = (terms: AskTerms): string => canonicalJson({ ...terms, timeoutMs: null } as unknown as Json);
  return whileWaiting(one) === whileWaiting(other);
}

type Asking = NonNullable<Ruling['ask']>['by'];

function namesReviewers({ reviewers, quorum, oneOfEach }: AskSettings): boolean {
  return reviewers !== undefined || quorum !== undefined || oneOfEach !== undefined;
}

/** Those that say something; one that asks for any approval is met when another is. Each once: a command has parts. */
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

/** Policy section 6: never for what could do harm. A risk that is not known could. */
function mayRunUnanswered(severity: Severity, risk: Risk): boolean {
  return (severity === 'safe' || severity === 'low') && (risk === 'read_only' || risk === 'write');
}

/**
 * The ceiling has to say so, and each parent and the run's side too where they have a policy: each by all its rules that
 * ask, a silent one by its policy. What says nothing denies.
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
