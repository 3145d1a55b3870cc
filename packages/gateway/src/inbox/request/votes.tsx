import { personsShown } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { LocalTime } from '../parts/local-time.tsx';
import { Foreign } from '../parts/shown-text.tsx';

/** The votes of a quorum so far. */
export function Votes({ request: { approvals, votes = [], people } }: { request: ApprovalDetails }) {
  // The one vote that settles a request is told by what became of it.
  if (approvals === undefined || approvals.need < 2) return null;
  return (
    <section class="votes" aria-label="Votes">
      <h2>{`Votes: ${approvals.have} of ${approvals.need} approvals`}</h2>
      <progress max={approvals.need} value={approvals.have} aria-label="Approvals so far" />
      <ul>
        {votes.map(({ reviewerId, reviewerName, identity, approved, at, reason, decisionId }) => (
          <li key={decisionId ?? `${reviewerId} ${at}`}>
            <Foreign
              text={reviewerId === undefined ? 'an unnamed reviewer' : personsShown(people)(reviewerId, reviewerName)}
              most={300}
            />{' '}
            {approved ? 'approves' : 'denies'} ({identity}), <LocalTime at={at} />
            {reason !== undefined && (
              <>
                : <Foreign text={reason} most={500} />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
