import type { RunBook } from './run-book.ts';
import type { SentChange } from './sent-change.ts';

/**
 * Every answer by a policy must follow from a policy that was sent before, to this run or to the run that called it. A
 * nested run cannot loosen the policies of its caller (I10).
 */
export function ruledByAChange({ changes: own, above, entries, projection }: RunBook): string[] {
  const wasSent = (tool: string, action: string, before = Infinity): boolean =>
    binding(own, above?.changes, action).some(
      ({ change, sentAtMs }) => change.tool === tool && change.action === action && sentAtMs <= before,
    );
  const requests = projection.requests.flatMap(({ requestId, toolName, outcome, runs, by, settledAt }) => {
    if (outcome !== 'superseded' || by === 'grant') return [];
    const isRight = by === 'policy' && wasSent(toolName, runs === true ? 'allow' : 'deny', Date.parse(settledAt ?? ''));
    return isRight ? [] : [`request ${requestId} of ${toolName} was superseded by ${by}, runs: ${runs}`];
  });
  const granted = new Set(
    entries.flatMap(({ kind, layer, callId }) => (kind === 'ruling' && layer === 'grant' ? [callId] : [])),
  );
  const calls = projection.outcomes.flatMap(({ callId, toolName, outcome }) => {
    const action = { allowed: 'allow', denied_by_policy: 'deny' }[outcome as string];
    if (action === undefined || ['look', 'helper'].includes(toolName) || granted.has(callId)) return [];
    return wasSent(toolName, action)
      ? []
      : [`call ${callId} of ${toolName} is ${outcome} by a policy that nobody sent`];
  });
  return [...requests, ...calls];
}

function binding(own: readonly SentChange[], above: readonly SentChange[] | undefined, action: string) {
  if (above === undefined) return own;
  return action === 'allow' ? above : [...above, ...own];
}
