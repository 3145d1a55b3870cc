import type { RunBook } from './run-book.ts';

/** Somebody was to cancel it, or to end the run that called it, which cancels it. */
export function mayBeCancelled({ plan, above }: RunBook): boolean {
  return plan.end.kind === 'cancel' || (above !== undefined && above.plan.end.kind !== 'itself');
}

/** A call of an agent ran where its nested run came to its own end, and what became of it is unknown where it did not. */
export function nestedRunsAnswered({ status, projection, nested }: RunBook): string[] {
  const outcomes = new Map(projection.outcomes.map((each) => [each.callId, each]));
  const wrong = projection.outcomes.flatMap(({ callId, toolName, outcome, ran }) => {
    if (toolName !== 'helper') return [];
    const ended = nested[callId];
    const isOver = status === 'COMPLETED';
    const expected = ended === 'COMPLETED' ? 'yes' : ended === undefined ? 'no' : 'unknown';
    // Whoever ends a run does not wait for what becomes of those below it.
    if (outcome === 'allowed' && (!isOver || ran === expected)) return [];
    return [`call ${callId} of an agent is ${outcome} and ran: ${ran}; its nested run is ${ended}`];
  });
  const strangers = Object.keys(nested).filter((callId) => outcomes.get(callId)?.toolName !== 'helper');
  return [
    ...wrong,
    ...strangers.map((callId) => `a nested run was started by call ${callId}, which is none of an agent`),
  ];
}
