import { mayRun } from '../core/policy/modes.ts';
import { compileAssessRules } from '../core/policy/assess-rules.ts';
import type { GatedDefinition } from '../core/policy/gated-activity.ts';
import type { Policy } from '../core/policy/policy.ts';
import { assessRecorded } from '../core/policy/recorded-assessment.ts';
import { compilePolicy, engine, evaluate, type Ruling, type RulingContext } from '../core/policy/ruling.ts';
import { notSplit } from '../core/shell/parts.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { knownCeiling, strictCeiling } from '../policy-file/parse-run-policy.ts';
import type { ApprovedBy } from '../contract.ts';
import { allIdsOf, personKeyIn } from '../core/people/directory.ts';
import { revokedOf, revokedSentence, type Revoked } from '../core/people/revoked.ts';
import { splitShell } from '../shell/split.ts';

/** The members of a tool, or of a gated activity, on which a ruling depends. */
export type Called = Pick<GatedDefinition, 'name' | 'risk' | 'subject' | 'shellSubject' | 'beside'>;

/** What the permit of a call says about the run that admitted it. `engine` is the version of the run's rules engine. */
export type AdmittedBy = Pick<RulingContext, 'agent' | 'caller' | 'engine'>;

/** Returns in `problem` why an approval no longer counts, and in `revoked` all keys and people that are revoked now. */
export type CheckApprovers = (input: {
  approvedBy: readonly ApprovedBy[];
}) => Promise<{ problem?: string; revoked?: Revoked }>;

export function createCheckApprovers({ revocation, revoked }: PresentCeiling): CheckApprovers {
  return async ({ approvedBy }) => ({ problem: revocation(approvedBy), revoked });
}

export interface PresentCeiling {
  /** Returns why an admitted call must not start, in one sentence; undefined if it may start. */
  denial: (called: Called, args: JsonObject, by: AdmittedBy) => string | undefined;
  /** Rules on a call that no run has admitted. */
  ruleOutside: (called: Called, args: JsonObject) => Ruling;
  /** Returns why an approval by these people no longer counts, in one sentence; undefined if it counts. */
  revocation: (approvedBy: readonly ApprovedBy[]) => string | undefined;
  revoked: Revoked | undefined;
}

/**
 * Compiles the ceiling for the second gate. A call must be allowed by the newest rules engine and also by the engine
 * that its permit names, because a forged permit could name an older engine that allows more.
 */
export function presentCeiling(ceiling: Policy | undefined, hasOutsideCalls = false): PresentCeiling {
  const layers = { ceiling: ceiling && compilePolicy(knownCeiling(ceiling), 'ceiling') };
  // Calls that no gate has admitted get a stricter ceiling. Most workers have no such calls, so they do not compile it.
  const outside = hasOutsideCalls ? { ceiling: ceiling && compilePolicy(strictCeiling(ceiling), 'ceiling') } : layers;
  const assessRules = compileAssessRules({ ceiling });

  /** Rules on a call by the ceiling alone. A command that is missing or no text counts as `notSplit`. */
  function rule(compiled: typeof layers, called: Called, args: JsonObject, context: AdmittedBy): Ruling {
    const { name, risk, subject, shellSubject, beside } = called;
    const command = subject === undefined || !Object.hasOwn(args, subject) ? undefined : args[subject];
    const shell = typeof command === 'string' ? splitShell(command) : notSplit;
    const call = { tool: name, args, risk, subject, beside, ...(shellSubject === true ? { shell } : {}) };
    const assessment = assessRecorded(call, assessRules);
    return evaluate(compiled, call, { ...context, assessment });
  }

  const keyOf = personKeyIn(ceiling?.directory);
  return {
    revoked: ceiling?.revoked && {
      ...ceiling.revoked,
      // List all ids of a revoked person, because the run may know the person by another id from its older directory.
      people: allIdsOf(ceiling.directory, ceiling.revoked.people, keyOf),
    },
    revocation(approvedBy) {
      const [revokedName] = approvedBy.flatMap((voter) => revokedOf(ceiling?.revoked, voter, keyOf) ?? []);
      return revokedName && `the approval of this call counts no more: ${revokedSentence(revokedName)}`;
    },
    denial(called, args, { engine: recorded, ...by }) {
      if (ceiling === undefined) return undefined;
      const engines = [engine, ...(isEarlier(recorded) ? [recorded] : [])];
      const denial = engines
        .map((number) => rule(layers, called, args, { ...by, engine: number }))
        .find(({ action }) => !mayRun(action));
      return denial && (denial.reason ?? `the operator's policy denies '${called.name}'`);
    },
    ruleOutside: (called, args) => rule(outside, called, args, {}),
  };
}

function isEarlier(number: number | undefined): number is number {
  return Number.isInteger(number) && number! >= 1 && number! < engine;
}
