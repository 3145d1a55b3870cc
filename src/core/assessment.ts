import type { Risk, Severity } from './tool-call.ts';

/** How bad one call would be, for the policy and for the reviewer (policy section 5). */
export interface Assessment {
  severity: Severity;
  reasons: string[];
  affectedResources: string[];
  reversible: boolean;
  recommendations: string[];
  requiresApproval: boolean;
}

const severityByRisk: Record<Risk, Severity> = {
  read_only: 'safe',
  write: 'medium',
  destructive: 'high',
  unknown: 'high',
};

/** The severity of a call that no assessor spoke about. */
export function severityOf(risk: Risk): Severity {
  return severityByRisk[risk];
}

/** The assessment where no assessor speaks: what the tool's declared risk says, and nothing more. */
export function defaultAssessment(risk: Risk): Assessment {
  return {
    severity: severityOf(risk),
    reasons: [risk === 'unknown' ? 'the risk of the tool is unknown' : `the tool declares its risk as ${risk}`],
    affectedResources: [],
    reversible: risk !== 'destructive',
    recommendations: [],
    requiresApproval: risk !== 'read_only',
  };
}
