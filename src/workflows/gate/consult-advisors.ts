import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { ConsultAdvisors, ConsultInput } from '../../activities/consult-advisors.ts';
import { activityNames } from '../../contract.ts';
import type { ToolCall } from '../../core/base/tool-call.ts';
import { type Advice, failedAdvice, readAdvice } from '../../core/policy/advice.ts';
import type { RedactionSettings } from '../../core/redact/redaction.ts';

/** A second attempt, because a worker may be lost while an advisor answers. */
const attempts = 2;
/** The time that each attempt gets for the way to a worker and back. */
const marginMs = 15_000;

/** The input of a call's advisors, without the arguments of the call. */
export interface Consultation extends Pick<ConsultInput, 'advisors' | 'subject' | 'shellSubject'> {
  about: Omit<ConsultInput['call'], 'args'>;
}

/** Rejects only if it is cancelled. Any other error is a failure of each advisor: the call is left to reviewers. */
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
    // Perhaps no worker has this activity, which must not delay the call for ever.
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
