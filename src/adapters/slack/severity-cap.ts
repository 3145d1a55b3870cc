import type { ApprovalDetails } from '../../contract.ts';
import { severityRank } from '../../core/assess/assessment.ts';
import type { SlackSettings } from './slack-settings.ts';

/** True if a request is too severe to be approved on a channel. */
export function isAboveCap(
  { assessment }: Pick<ApprovalDetails, 'assessment'>,
  { highestSeverity = 'critical' }: Pick<SlackSettings, 'highestSeverity'>,
): boolean {
  const rank = severityRank(assessment.severity);
  // An unknown severity is above all.
  return rank === -1 || rank > severityRank(highestSeverity);
}

/**
 * True if a channel has a cap. Then nothing is edited there, and "always" covers the same call only: edited arguments and
 * later calls of a tool may be more severe than what was shown.
 */
export function hasCap({ highestSeverity = 'critical' }: Pick<SlackSettings, 'highestSeverity'>): boolean {
  return highestSeverity !== 'critical';
}
