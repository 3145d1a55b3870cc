/** Why a toolset's tool, which the gate admitted, does not start. */
import { ApplicationFailure } from '@temporalio/activity';
import { refusedBySecondGate, type secondGateTypes } from '../core/base/tool-failure.ts';

const type = 'tool_unavailable' satisfies (typeof secondGateTypes)[number];

export function unavailable(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, refusedBySecondGate);
}

/** The authors of the run have not seen the change, so what they have allowed or approved does not let it run. */
export function notAsRecorded(tool: string): ApplicationFailure {
  return unavailable(
    `tool '${tool}' has changed since this run recorded it, so it does not run here; runs that start now take it as it is`,
  );
}
