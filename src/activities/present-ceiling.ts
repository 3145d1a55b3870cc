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

/** The run that admitted a call, by its permit. `engine`: the version of the rules engine there; absent: unknown. */
export type AdmittedBy = Pick<RulingContext, 'agent' | 'caller' | 'engine'>;

/** Activity `countersign.checkApprovers`. `problem`: why the approval counts no more. `revoked`: all revocations. */
export type CheckApprovers = (input: {
  approvedBy: readonly ApprovedBy[];
}) => Promise<{ problem?: string; revoked?: Revoked }>;

export function createCheckApprovers({ revocation, revoked }: PresentCeiling): CheckApprovers {
  return async ({ approvedBy }) => ({ problem: revocation(approvedBy), revoked });
}

export interface PresentCeiling {
  /** Why a call that a run has admitted must not start, in one sentence; undefined if it may. */
  denial: (called: Called, args: JsonObject, by: AdmittedBy) => string | undefined;
  /** Rules on a call that no run has admitted. */
  ruleOutside: (called: Called, args: JsonObject) => Ruling;
  /** Why an approval by these voters does not count any more, in one sentence; undefined if it does. */
  revocation: (approvedBy: readonly ApprovedBy[]) => string | undefined;
  revoked: Revoked | undefined;
}

/**
 * Compiles the ceiling for the second gate. The newest engine and the one that the run recorded both rule, and either
 * may deny: a forged permit could name an older engine that allows more. Unknown engine numbers are ignored.
 */
export function presentCeiling(ceiling: Policy | undefined, hasOutsideCalls = false): PresentCeiling {
  const layers = { ceiling: ceiling && compilePolicy(knownCeiling(ceiling), 'ceiling') };
  // The strict ceiling is for calls that no gate has admitted (`hasOutsideCalls`). Most workers get none, and to compile
  // a large policy takes a while.
  const outside = hasOutsideCalls ? { ceiling: ceiling && compilePolicy(strictCeiling(ceiling), 'ceiling') } : layers;
  const assessRules = compileAssessRules({ ceiling });

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
      // List all ids of a revoked person: the run has the directory with which it began, perhaps with another id.
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
