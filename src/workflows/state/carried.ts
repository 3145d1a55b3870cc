/**
 * Verifies carried state, which an execution passes to the next one as arguments of continue-as-new. Any client can
 * start a workflow with forged arguments, and retries and cron runs repeat old ones (docs/decisions/0022).
 */
import { ApplicationFailure, CancellationScope, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { VerifyCarried } from '../../activities/verify-carried.ts';
import { activityNames } from '../../contract.ts';
import type { ContextCarrier } from '../../core/ledger/recorded-context.ts';
import { runLocal } from '../sandbox/run-local.ts';
import { isObject } from '../../core/base/json.ts';

export interface Writer {
  workflowId: string;
  runId: string;
}

/** Temporal retries this activity until the server answers, because nothing may go on with unverified state. */
const verify = proxyActivities<{
  [activityNames.verifyCarried]: (carrier?: ContextCarrier) => ReturnType<VerifyCarried>;
}>({
  startToCloseTimeout: '30s',
  retry: { maximumInterval: '10s' },
  summary: 'Verify the carried state',
})[activityNames.verifyCarried];

const ofRun = (): { objects: Set<unknown> } => runLocal('arguments', () => ({ objects: new Set() }));

/** Notes the arguments of a continued execution, and their properties, before any message or code can change them. */
export function noteArguments(args: readonly unknown[]): void {
  if (!isContinued()) return;
  const membersOf = (value: unknown): unknown[] => (isObject(value) ? Object.values(value) : []);
  ofRun().objects = new Set([...args, ...args.flatMap(membersOf)].filter(isObject));
}

/** True if the server says that this execution follows another one, for any reason. */
export function isContinued(): boolean {
  return workflowInfo().continuedFromExecutionRunId !== undefined;
}

export function thisExecution(): Writer {
  const { workflowId, runId } = workflowInfo();
  return { workflowId, runId };
}

/**
 * Returns `carried` once it is verified that the previous execution wrote it; otherwise throws `forbidden`. Not
 * cancellable: open requests must be known before they can be cancelled. `carrier` is only recorded in history.
 */
export async function verified<State extends { writer: Writer }>(
  carried: State | undefined,
  carrier?: ContextCarrier,
): Promise<State> {
  const { workflowId, continuedFromExecutionRunId: runId } = workflowInfo();
  if (
    carried === undefined ||
    !ofRun().objects.has(carried) ||
    runId === undefined ||
    carried.writer?.workflowId !== workflowId ||
    carried.writer.runId !== runId
  ) {
    throw refused(
      'The carried state was not written by the execution before this one: only continue-as-new hands it over, and a retry or a cron run begins without it',
    );
  }
  await CancellationScope.nonCancellable(() => (carrier === undefined ? verify() : verify(carrier)));
  return carried;
}

/** Throws for a run that the server has started again: it would use request ids and idempotency keys twice. */
export function refuseRepeated(): void {
  const { attempt, cronSchedule = '' } = workflowInfo();
  if (cronSchedule !== '') {
    throw refused(
      'An agent run cannot have a cron schedule: use a Temporal schedule, which starts each run under an id of its own',
    );
  }
  if (attempt > 1) {
    throw refused('An agent run is not retried: start it again under a new workflow id');
  }
}

function refused(sentence: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(sentence, 'forbidden');
}
