import { activityInfo, getClient, log, metricMeter } from '@temporalio/activity';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { UngatedWindow } from '../agents/check-gated.ts';
import { mayRun } from '../core/policy/modes.ts';
import type { Ruling } from '../core/policy/ruling.ts';
import { activityExecution } from './recorded-events.ts';

/** Temporal's metric of the calls that ran without a permit, by activity and workflow type. */
export const ungatedCallsMetric = 'countersign_ungated_calls';

/**
 * Why the present call, which has no permit, must not run; undefined if it may. `ruling` is the ceiling's: a rule or a
 * mode that denies still counts, and a risk default does not. The server says when the execution started (I1).
 */
export async function ungatedProblem(
  { sinceMs, untilMs }: UngatedWindow,
  { action, rule, mode, reason }: Ruling,
): Promise<{ type: 'denied_by_policy' | 'forbidden'; message: string } | undefined> {
  const { activityType } = activityInfo();
  if (!mayRun(action) && (rule !== null || mode !== undefined)) {
    return { type: 'denied_by_policy', message: reason ?? `the operator's policy denies '${activityType}'` };
  }
  const without = (why: string) =>
    ({ type: 'forbidden', message: `'${activityType}' was called without a permit, and ${why}` }) as const;
  if (Date.now() >= untilMs) return without(`ungatedUntil, ${isoOf(untilMs)}, has passed`);
  const startedAtMs = await executionStartedAtMs();
  if (startedAtMs < sinceMs) return undefined;
  return without(`its execution started at ${isoOf(startedAtMs)}, not before gatedSince, ${isoOf(sinceMs)}`);
}

/** Counts and logs an admitted call without a permit, so that an operator sees when the last one was. */
export function noteUngatedCall({ untilMs }: UngatedWindow): void {
  const { activityType, workflowType = '' } = activityInfo();
  metricMeter
    .createCounter(ungatedCallsMetric, 'calls', 'Gated activities that ran without a permit (ungatedUntil)')
    .add(1, { activityType, workflowType });
  log.warn(`'${activityType}' runs without a permit: its execution is older than its gate`, {
    ungatedUntil: isoOf(untilMs),
  });
}

async function executionStartedAtMs(): Promise<number> {
  const { connection, options } = getClient();
  const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
    namespace: options.namespace,
    execution: activityExecution(),
  });
  const startTime = workflowExecutionInfo?.startTime;
  return startTime?.seconds == null ? Infinity : tsToMs(startTime);
}

function isoOf(atMs: number): string {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString() : 'an unknown time';
}
