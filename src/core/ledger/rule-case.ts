/** Rules on one call of a run, for the gate (active-policies.ts) and for an audit that repeats recorded rulings. */
import type { Assessment } from '../assess/assessment.ts';
import { assessRecorded } from '../policy/recorded-assessment.ts';
import { compileAssessRules, type CompiledAssessRule } from '../policy/assess-rules.ts';
import type { JsonObject } from '../base/tool-call.ts';
import type { RulingMeter } from '../match/ruling-meter.ts';
import { adviseRuling, raise, raisedBy, stricterRuling, type Advice, type Raised } from '../policy/advice.ts';
import { askTermsOf, type AskTerms } from '../policy/ask-terms.ts';
import { isOfDefinition, type Grant } from '../policy/grants.ts';
import { limitsOf, type Limits } from '../policy/limits.ts';
import { isAsked } from '../policy/modes.ts';
import type { PolicyLayers } from '../policy/policy.ts';
import type { CompiledLayers, RuledCall, Ruling, RulingContext } from '../policy/ruling.ts';
import { compileLayers, evaluate } from '../policy/ruling.ts';
import { sumOf } from './argument-sums.ts';
import { isDeniedBefore } from './denials.ts';
import { iso, type Directories, type Ledger } from './ledger-state.ts';
import { grantAnswers } from './make-grant.ts';
import { cannotBeApproved } from '../people/cannot-be-approved.ts';
import { deputiesOf } from './deputies.ts';
import { askedAgain } from './waiting-for.ts';
import { directoriesOf, lastPanelOf, type Asked } from './panel.ts';

export interface RunRules {
  policies: PolicyLayers;
  layers: CompiledLayers;
  assessRules: CompiledAssessRule[];
  directories: Directories;
}

/** A call, and the facts about it that were recorded where it was parsed. */
export interface CaseCall extends RuledCall {
  digest: string;
  /** The tool's definition: a grant holds only for the definition that its reviewers saw. */
  definition?: string;
  /** The result of the assessors. */
  assessed?: Assessment;
  /** What advisors answered about this very call. Absent: none was consulted. */
  advice?: readonly Advice[];
  /** The severity to which an advisor raised this call earlier, or the call that this one replaces. */
  raised?: Raised;
  /** True if only people may let it run: the preview changed after an approval, or the call may have run. */
  peopleOnly?: true;
  /** True if the call may have run: a rule that would let it run then asks a person instead. */
  mayHaveRun?: true;
}

/** The facts of the run that rules read: its agent in charge, who started it (the caller), and its metadata. */
export interface CaseRun {
  agent?: string;
  caller?: RulingContext['caller'];
  metadata?: JsonObject;
}

export type CaseLedger = Pick<Ledger, 'engine' | 'counts' | 'grants' | 'sums' | 'denied'>;

/** The answer of the policies to one call. The terms mean something only if the ruling is `ask`. */
export interface Case {
  ruling: Ruling;
  terms: AskTerms;
  assessment: Assessment;
  limits: Limits;
}

/** Compiles the policies of a run, for the rulings on all its calls. */
export function compileRules(policies: PolicyLayers): RunRules {
  return {
    policies,
    layers: compileLayers(policies),
    assessRules: compileAssessRules(policies),
    directories: directoriesOf(policies),
  };
}

/** Rules on one call at `atMs`. Throws for an engine that is no longer supported. `meter` counts the work. */
export function ruleCase(
  rules: RunRules,
  call: CaseCall,
  run: CaseRun,
  ledger: CaseLedger,
  atMs: number,
  meter?: RulingMeter,
): Case {
  const { policies, layers, assessRules, directories } = rules;
  const { digest, assessed, definition, advice = [], raised = raisedBy(advice), ...asked } = call;
  const { peopleOnly = false, mayHaveRun, ...ruled } = asked;
  const { agent, caller, metadata } = run;
  const { engine, counts } = ledger;
  const unraised = assessRecorded(ruled, assessRules, assessed === undefined ? [] : [assessed], meter);
  const assessment = raise(unraised, raised);
  const summed = (tool: string, argument: string): number | undefined => sumOf(ledger.sums, tool, argument);
  const context = { engine, agent, caller, metadata, counts, sumOf: summed, digest, atMs };
  const ruleWith = (grants: readonly Grant[]): Ruling => {
    const before = evaluate(layers, ruled, { ...context, assessment: unraised, grants }, meter);
    if (assessment === unraised) return before;
    // A rule may allow only calls of the raised severity: the raise must not loosen the ruling.
    return stricterRuling(before, evaluate(layers, ruled, { ...context, assessment, grants }, meter));
  };
  const ungranted = ruleWith([]);
  const terms = askTermsOf(policies, ungranted, { ...ruled, mayHaveRun });
  const asking = { terms, delegations: [], request: { requestedAt: iso(atMs), callerUserId: caller?.userId ?? null } };
  // A grant answers only if the reviewers who made it could answer this call.
  const isAnswering = (grant: Grant): boolean =>
    grant.tool === call.tool &&
    grant.approved &&
    isOfDefinition(grant, definition) &&
    grantAnswers(grant, asking, directories, atMs);
  // Grants answer only what the policies ask about.
  const grants = isAsked(ungranted.action) && !peopleOnly ? ledger.grants.filter(isAnswering) : [];
  const granted = grants.length > 0 ? ruleWith(grants) : ungranted;
  const wasDenied = isDeniedBefore(ledger.denied, digest);
  const { reversible } = assessment;
  // Only a person may let such a call start again, so the answers of advisors do not count.
  const advised = mayHaveRun
    ? askedAgain(granted)
    : adviseRuling(granted, advice, { risk: call.risk, reversible, wasDenied, peopleOnly });
  const why = isAsked(advised.action) ? impossibleReason(rules, asking, atMs) : undefined;
  const ruling: Ruling = why === undefined ? advised : { ...advised, action: 'deny', reason: why };
  return { ruling, terms, assessment, limits: limitsOf(policies, ungranted) };
}

/** Why no votes could approve the call, if a policy denies such calls (`onImpossible`). */
function impossibleReason({ policies, directories }: RunRules, asking: Asked, atMs: number): string | undefined {
  const { ceiling, parents = [], run } = policies;
  const all = [ceiling, ...parents, run];
  if (!all.some((policy) => policy?.approval.onImpossible === 'deny')) return undefined;
  const delegations = deputiesOf(asking, directories, atMs);
  return cannotBeApproved(lastPanelOf({ ...asking, delegations }, directories), []);
}
