import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { ConsultAdvisors, ConsultInput } from '../../activities/consult-advisors.ts';
import { activityNames } from '../../contract.ts';
import type { ToolCall } from '../../core/base/tool-call.ts';
import { type Advice, failedAdvice, readAdvice } from '../../core/policy/advice.ts';
import type { RedactionSettings } from '../../core/redact/redaction.ts';

/** Two attempts, because a worker may be lost while an advisor answers. */
const attempts = 2;
/** Each attempt gets this much more time than its advisors, for the way to a worker and back. */
const marginMs = 15_000;

/** What the advisors of a call receive, without the call's arguments. */
export interface Consultation extends Pick<ConsultInput, 'advisors' | 'subject' | 'shellSubject'> {
  about: Omit<ConsultInput['call'], 'args'>;
}

/** Asks advisors about a call. Rejects only if cancelled: another error becomes failed advice, so reviewers decide. */
export async function consultAdvisors(
  { callId, args }: Pick<ToolCall, 'callId' | 'args'>,
  { advisors, about, subject, shellSubject }: Consultation,
  redact: RedactionSettings | undefined,
): Promise<Advice[]> {
  const attemptMs = Math.max(...advisors.map(({ timeoutMs }) => timeoutMs)) + marginMs;
  const { [activityNames.consultAdvisors]: activity } = proxyActivities<{
    [activityNames.consultAdvisors]: ConsultAdvisors;
  }>({
    startToCloseTimeout: attemptMs,
    // If no worker has this activity, the call must not wait for it for ever.
    scheduleToCloseTimeout: attempts * attemptMs,
    heartbeatTimeout: '15s',
    retry: { maximumAttempts: attempts },
    summary: `advice on call ${callId}`,
  });
  try {
    return readAdvice(advisors, await activity({ advisors, call: { ...about, args }, subject, shellSubject, redact }));
  } catch (error) {
    if (isCancellation(error)) throw error;
    return advisors.map(({ name }) => failedAdvice(name, 'its activity did not end'));
  }
}
