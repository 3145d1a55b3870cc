import { answerLostText } from '../api/fetch-json.ts';
import { Foreign } from '../parts/shown-text.tsx';
import type { DecisionState } from './decisions.ts';
import { personsShown } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { LocalTime } from '../parts/time.tsx';

/** The result of the answer. */
export function DecisionNote({ state }: { state: DecisionState }) {
  switch (state.kind) {
    case 'idle':
    case 'delayed':
      return null;
    case 'dropped':
      return (
        <p class="note bad" role="alert">
          Not sent: <Foreign text={state.why} />.
        </p>
      );
    case 'sending':
      return (
        <p class="note plain" role="status">
          Sending your answer …
        </p>
      );
    case 'unsure':
      return (
        <div class="note bad" role="alert">
          <p>{answerLostText}</p>
          <p class="buttons">
            <button type="button" onClick={state.again}>
              Send it again
            </button>
          </p>
        </div>
      );
    case 'refused':
      return (
        <p class="note bad" role="alert">
          Not accepted: <Foreign text={state.problem.message} />
        </p>
      );
    case 'done': {
      const { outcome, votes, recorded, grantId, successor, message } = state.receipt;
      const counted = votes === undefined ? '' : ` ${votes.have} of ${votes.need} approvals so far.`;
      const text = [
        recorded === true ? 'Recorded: the next worker applies it.' : (outcome ?? 'Accepted').replaceAll('_', ' '),
        counted,
        grantId === undefined ? '' : ` Later calls are covered by ${grantId}.`,
        successor === undefined ? '' : ` It goes on as request ${successor}.`,
      ].join('');
      return (
        <p class="note good" role="status">
          Your answer counts: {text}{' '}
          <span class="small">
            <Foreign text={message} />
          </span>
        </p>
      );
    }
  }
}

/** The votes of a quorum so far. */
export function Votes({ request: { approvals, votes = [], people } }: { request: ApprovalDetails }) {
  // The result of the answer shows the single vote that settles a request.
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
