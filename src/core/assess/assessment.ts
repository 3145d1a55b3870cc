import { severities, type Risk, type Severity } from '../base/tool-call.ts';

/** How bad one call would be, for the policy and for the reviewer (policy section 5). */
export interface Assessment {
  severity: Severity;
  /** Never hold values of arguments: reasons are shown where arguments are redacted. Of `fromWorker` nobody can know. */
  reasons: string[];
  /** `KIND:VALUE`, such as `file:/etc/hosts`. Made of arguments: redacted wherever they are. */
  affectedResources: string[];
  reversible: boolean;
  recommendations: string[];
  requiresApproval: boolean;
  /** Those of the reasons and recommendations that an assessor of the worker's own wrote: they may hold anything. */
  fromWorker?: string[];
}

/** What an assessment holds at most: requests are kept in the run, and shown in lists. */
export const assessmentBounds = { reasons: 10, affectedResources: 20, recommendations: 5, characters: 200 } as const;

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

/** The place of a severity in their order: `safe` 0 to `critical` 4. */
export function severityRank(severity: Severity): number {
  return severities.indexOf(severity);
}

/** The more severe of two. */
export function moreSevere(one: Severity, other: Severity): Severity {
  return severityRank(one) >= severityRank(other) ? one : other;
}

/** A call of this severity is asked about where a mode asks by `requiresApproval`, unless an assessor says otherwise. */
export function wantsApproval(severity: Severity): boolean {
  return severityRank(severity) >= severityRank('medium');
}

/**
 * One assessment out of many: the most severe, with all reasons (the worst first), all resources and recommendations;
 * not reversible if any is not; approval required if any requires it. Their order does not matter. Bounded.
 * Of none: safe, and nothing said.
 */
export function joinAssessments(all: readonly Assessment[]): Assessment {
  const sorted = all
    .map((assessment) => ({ assessment, text: JSON.stringify(assessment) }))
    .toSorted(
      (one, other) =>
        severityRank(other.assessment.severity) - severityRank(one.assessment.severity) ||
        compare(one.text, other.text),
    )
    .map(({ assessment }) => assessment);
  const reasons = boundTexts(
    sorted.flatMap((each) => each.reasons),
    assessmentBounds.reasons,
  );
  const recommendations = boundTexts(
    sorted.flatMap((each) => each.recommendations),
    assessmentBounds.recommendations,
  );
  const own = new Set(sorted.flatMap((each) => each.fromWorker ?? []).map(boundText));
  const fromWorker = [...new Set([...reasons, ...recommendations])].filter((text) => own.has(text));
  return {
    severity: sorted[0]?.severity ?? 'safe',
    reasons,
    affectedResources: boundTexts(
      sorted.flatMap(({ affectedResources }) => affectedResources),
      assessmentBounds.affectedResources,
    ),
    reversible: sorted.every(({ reversible }) => reversible),
    recommendations,
    requiresApproval: sorted.some(({ requiresApproval }) => requiresApproval),
    ...(fromWorker.length > 0 && { fromWorker }),
  };
}

/** Each text once, cut to `assessmentBounds.characters`; where there are too many, the last says how many are not shown. */
function boundTexts(texts: readonly string[], most: number): string[] {
  const distinct = [...new Set(texts.map(boundText))];
  if (distinct.length <= most) return distinct;
  return [...distinct.slice(0, most - 1), `and ${distinct.length - most + 1} more`];
}

function boundText(text: string): string {
  const most = assessmentBounds.characters;
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return cut.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** By code units: the same on every machine (I12). */
function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
