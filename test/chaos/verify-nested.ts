import type { RunBook } from './run-book.ts';

/** The plan cancels the run, or ends the run that called it, which cancels this one. */
export function mayBeCancelled({ plan, above }: RunBook): boolean {
  return plan.end.kind === 'cancel' || (above !== undefined && above.plan.end.kind !== 'itself');
}

/**
 * A call of an agent must have run if its nested run completed; otherwise its result must be unknown, or it must not
 * have run.
 */
export function nestedRunsAnswered({ status, projection, nested }: RunBook): string[] {
  const outcomes = new Map(projection.outcomes.map((each) => [each.callId, each]));
  const wrong = projection.outcomes.flatMap(({ callId, toolName, outcome, ran }) => {
    if (toolName !== 'helper') return [];
    const ended = nested[callId];
    const isOver = status === 'COMPLETED';
    const expected = ended === 'COMPLETED' ? 'yes' : ended === undefined ? 'no' : 'unknown';
    // A run that is ended early does not wait for its nested runs.
    if (outcome === 'allowed' && (!isOver || ran === expected)) return [];
    return [`call ${callId} of an agent is ${outcome} and ran: ${ran}; its nested run is ${ended}`];
  });
  const strangers = Object.keys(nested).filter((callId) => outcomes.get(callId)?.toolName !== 'helper');
  return [
    ...wrong,
    ...strangers.map((callId) => `a nested run was started by call ${callId}, which is none of an agent`),
  ];
}
