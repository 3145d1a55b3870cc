import type { ApprovalDetails } from '../../contract.ts';
import { Moment } from '../parts/moment.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { hrefOf, requestHref } from '../state/location.ts';

/** Why a request cannot be answered any more. `decisionId`: of the answer that was sent from here. */
export function StandingNote({ request, decisionId }: { request: ApprovalDetails; decisionId: string | undefined }) {
  const { settled, workflowId } = request;
  if (settled === undefined) {
    return (
      <p class="note bad" role="alert">
        Its deadline has passed: it can no longer be answered.
      </p>
    );
  }
  const { outcome, reviewerId, identity, settledAt, reason, by, byId } = settled;
  const isOwn = decisionId !== undefined && settled.decisionId?.endsWith(decisionId) === true;
  return (
    <div class={`note ${isOwn ? 'good' : 'bad'}`} role="alert">
      <p>
        {isOwn ? 'Your answer settled it: ' : `${words[outcome] ?? 'Settled elsewhere'}: `}
        <strong>{outcome.replaceAll('_', ' ')}</strong>
        {reviewerId !== undefined && (
          <>
            {' '}
            by <Foreign text={reviewerId} most={200} />
            {identity !== undefined && ` (${identity})`}
          </>
        )}
        {by !== undefined && ` by ${by === 'edit' ? 'an edit of its arguments' : `a ${by}`}`}, at{' '}
        <Moment at={settledAt} />
        {reason !== undefined && (
          <>
            : <Foreign text={reason} most={2_000} lines />
          </>
        )}
      </p>
      {by === 'edit' && typeof byId === 'string' && (
        <p>
          <a href={requestHref({ workflowId, requestId: byId })}>Go to the request that continues it</a>
        </p>
      )}
      <p>
        <a href={hrefOf('/')}>To the inbox</a>
      </p>
    </div>
  );
}

/** What happened, where it was not somebody's answer. */
const words: Partial<Record<string, string>> = {
  expired: 'Nobody answered in time',
  cancelled: 'The run has ended or was cancelled',
};
