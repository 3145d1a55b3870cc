import { useEffect, useState } from 'preact/hooks';
import type { RequestedScope } from 'countersign/card';
import type { ApprovalDetails } from 'countersign/client';
import type { Matches, MatchesBody } from '../../http/inbox/api.ts';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { problemText } from '../api/problem-text.ts';

/** The matches are asked for once nothing was typed for this long. */
const pauseMs = 300;

/** What a scope would have covered so far. `problem`: why it would be refused. */
export function useMatches(
  { requestId, workflowId }: ApprovalDetails,
  scope: RequestedScope,
): { matches?: Matches; problem: string } {
  const [state, setState] = useState<{ matches?: Matches; problem: string }>({ problem: '' });
  const asked = JSON.stringify(scope);
  useEffect(() => {
    let isLatest = true;
    const path = `${apiPath`/approvals/${requestId}/matches`}?workflowId=${encodeURIComponent(workflowId)}`;
    const timer = setTimeout(() => {
      sendJson<Matches>('POST', path, { scope: JSON.parse(asked) as RequestedScope } satisfies MatchesBody).then(
        (matches) => isLatest && setState({ matches, problem: '' }),
        (error: unknown) => isLatest && setState({ problem: problemText(error) }),
      );
    }, pauseMs);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [asked]);
  return state;
}
