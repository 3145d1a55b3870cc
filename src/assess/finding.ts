import { mostAffected, wantsApproval, type Assessment } from '../core/assess/assessment.ts';
import type { Severity } from '../core/base/tool-call.ts';

/** A finding of one assessor about a call. */
export interface Finding {
  severity: Severity;
  /** A clause, without values of arguments. */
  reason: string;
  /** `KIND:VALUE`. */
  affected?: readonly string[];
  /** False: its effect cannot be undone. */
  reversible?: boolean;
  recommend?: string;
}

/** The finding as an assessment of its own. */
export function assessmentOf({ severity, reason, affected, reversible, recommend }: Finding): Assessment {
  return {
    severity,
    reasons: [reason],
    affectedResources: (affected ?? []).slice(0, mostAffected),
    reversible: reversible ?? true,
    recommendations: recommend === undefined ? [] : [recommend],
    requiresApproval: wantsApproval(severity),
  };
}

/** For a text that is longer than an assessor reads. */
export const tooLong: Finding = {
  severity: 'high',
  reason: 'a command or a program is too long to be assessed',
  reversible: false,
};
