import type { RunBook } from './run-book.ts';

/** What a policy settled, and no person and no grant, is what a policy said that somebody sent before. */
export function ruledByAChange({ changes, entries, projection }: RunBook): string[] {
  const wasSent = (tool: string, action: string, before = Infinity): boolean =>
    changes.some(({ change, sentAtMs }) => change.tool === tool && change.action === action && sentAtMs <= before);
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
    if (action === undefined || toolName === 'look' || granted.has(callId)) return [];
    return wasSent(toolName, action)
      ? []
      : [`call ${callId} of ${toolName} is ${outcome} by a policy that nobody sent`];
  });
  return [...requests, ...calls];
}
