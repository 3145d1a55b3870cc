import { severities, type Risk, type Severity, type JsonObject } from '../base/tool-call.ts';
import type { ShellSplit } from '../shell/parts.ts';
import { oneOf, type Shape, type ShapeOf } from '../base/shape.ts';

/** What the assessors found out about one call, for the policy and for the reviewer. */
export interface Assessment {
  severity: Severity;
  /** Reviewers see the reasons even if the policy hides arguments. Only texts in `fromWorker` may quote arguments. */
  reasons: string[];
  /** Texts `KIND:VALUE`, such as `file:/etc/hosts`, made from arguments and redacted wherever arguments are. */
  affectedResources: string[];
  /** True if what the call does can be undone. */
  reversible: boolean;
  /** Advice for reviewers, shown where `reasons` are. */
  recommendations: string[];
  /** True: a mode that decides by assessment, such as `custom`, asks a reviewer about the call. */
  requiresApproval: boolean;
  /** The reasons and recommendations that custom assessors of the worker wrote. They may contain anything. */
  fromWorker?: string[];
}

export const assessmentShape: Shape = {
  severity: oneOf(...severities),
  reasons: 'texts',
  affectedResources: 'texts',
  recommendations: 'texts',
  'fromWorker?': 'texts',
} satisfies ShapeOf<Assessment>;

/** An assessment is cut to these sizes, because the run keeps it with the request, and lists show it. */
export const assessmentBounds = { reasons: 10, affectedResources: 20, recommendations: 5, characters: 200 } as const;

/** The most affected resources that are collected for one call. An assessment shows fewer: see `assessmentBounds`. */
export const mostAffected = 1_000;

const severityByRisk: Record<Risk, Severity> = {
  read_only: 'safe',
  write: 'medium',
  destructive: 'high',
  unknown: 'high',
};

/** The severity of a call that no assessor rates. */
export function severityOf(risk: Risk): Severity {
  return severityByRisk[risk];
}

/** The assessment of a call that no assessor rates. It only repeats the risk that the tool declares. */
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

/** The position of a severity in their order: `safe` 0 to `critical` 4. */
export function severityRank(severity: Severity): number {
  return severities.indexOf(severity);
}

export function moreSevere(one: Severity, other: Severity): Severity {
  return severityRank(one) >= severityRank(other) ? one : other;
}

/** The default of `requiresApproval`: true from `medium` on. */
export function wantsApproval(severity: Severity): boolean {
  return severityRank(severity) >= severityRank('medium');
}

/**
 * Joins assessments, in any order. The result has the highest severity (`safe` for an empty list) and all texts,
 * those of the most severe first, cut to `assessmentBounds`. Reversible if all are; needs approval if any does.
 */
export function joinAssessments(all: readonly Assessment[]): Assessment {
  // The JSON text decides between equal severities, so that the order of the list changes nothing.
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
  const writtenByWorkers = new Set(sorted.flatMap((each) => each.fromWorker ?? []).map(boundText));
  // The marks stay on the texts that are left, because a policy that hides arguments hides what workers wrote, too.
  const fromWorker = [...new Set([...reasons, ...recommendations])].filter((text) => writtenByWorkers.has(text));
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

/** The distinct texts, each cut to the bound. Of more than `most` texts, the last says how many are left out. */
function boundTexts(texts: readonly string[], most: number): string[] {
  const distinct = [...new Set(texts.map(boundText))];
  if (distinct.length <= most) return distinct;
  return [...distinct.slice(0, most - 1), `and ${distinct.length - most + 1} more`];
}

/** The text, cut to the bound. Half a surrogate pair, also one that the cut makes, becomes U+FFFD. */
function boundText(text: string): string {
  const most = assessmentBounds.characters;
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return cut.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** Compares by code units, so that the order is the same on every machine (I12). */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** A call as assessors see it. */
export interface AssessedCall {
  tool: string;
  args: JsonObject;
  risk: Risk;
  /** The name of the argument whose value `name:args` patterns match. */
  subject?: string;
  shell?: ShellSplit;
  /** For a shell command: the other arguments that the tool declares harmless. Default: none. */
  beside?: readonly string[];
}

/** A rule under `assess:` of a policy, in its normal form. */
export interface AssessRule {
  /** Default: `LAYER.assess#N`, N from 1. */
  id?: string;
  /** `name` or `name:args`, as in a policy rule. */
  pattern: string;
  /** Globs on single arguments. */
  args?: Record<string, string>;
  severity: Severity;
  /** Default: a text that names the rule. */
  reason?: string;
  /** Names of the arguments whose values are the affected resources. */
  affected?: string[];
  /** Default true. */
  reversible?: boolean;
  /** A recommendation for reviewers. */
  recommend?: string;
  /** Default: true from severity `medium` on. */
  requiresApproval?: boolean;
}
