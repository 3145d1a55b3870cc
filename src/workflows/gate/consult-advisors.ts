import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { ConsultAdvisors, ConsultInput } from '../../activities/consult-advisors.ts';
import { activityNames } from '../../contract.ts';
import type { ToolCall } from '../../core/base/tool-call.ts';
import { type Advice, failedAdvice, readAdvice } from '../../core/policy/advice.ts';
import type { RedactionSettings } from '../../core/redact/redaction.ts';

/** A worker may be lost while an advisor answers. */
const attempts = 2;
/** For the way to a worker and back, per attempt. */
const marginMs = 15_000;

/** What the advisors of a call are told, besides its arguments. */
export interface Consultation extends Pick<ConsultInput, 'advisors' | 'subject' | 'shellSubject'> {
  about: Omit<ConsultInput['call'], 'args'>;
}

/**
 * Consults the advisors of one call, in an activity. Rejects only if it is cancelled: whatever else goes wrong is the
 * failure of each advisor, which leaves the call to reviewers.
 */
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
    // No worker may have it, which must not hold the call for ever.
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
