import { answerLostText } from '../api/fetch-json.ts';
import { FailureNote, Foreign } from '../parts/shown-text.tsx';
import type { DecisionState } from './decisions.ts';
import { personsShown } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { LocalTime } from '../parts/time.tsx';
import { requestHref } from '../state/location.ts';
import { approvalsText, whoCanAnswer } from './who-answers.ts';
import { Button } from '../parts/controls.tsx';

/** Says what became of the user's answer. Empty while the answer is delayed, because `UndoBar` shows that. */
export function DecisionNote({ state, request }: { state: DecisionState; request: ApprovalDetails }) {
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
            <Button onClick={state.again}>Send it again</Button>
          </p>
        </div>
      );
    case 'refused':
      return <FailureNote words="Not accepted: " message={state.problem.message} isAlert />;
    case 'done': {
      const { votes, grantId, successor } = state.receipt;
      const { workflowId } = request;
      // The page reads the request again after a vote, so `request` has the vote already.
      const who = whoCanAnswer(request);
      return (
        <p class="note good" role="status">
          {effectText(state)}
          {votes !== undefined && (
            <>
              {` ${votes.have} of ${votes.need}`}
              {who === undefined ? (
                '.'
              ) : (
                <>
                  ; still needed: <Foreign text={who} most={600} />.
                </>
              )}
            </>
          )}
          {grantId !== undefined && ` Later calls are covered by ${grantId}.`}
          {successor !== undefined && (
            <>
              {' '}
              <a href={requestHref({ workflowId, requestId: successor })}>Go to the request that continues it</a>
            </>
          )}
        </p>
      );
    }
  }
}

function effectText({ approved, receipt }: DecisionState & { kind: 'done' }): string {
  const { outcome, votes, recorded } = receipt;
  if (recorded === true) return 'Recorded: the next worker applies it.';
  const settled = votes === undefined && outcome !== undefined ? `: ${outcome.replaceAll('_', ' ')}` : '';
  return `Your ${approved ? 'approval' : 'answer'} counts${settled}.`;
}

export function Votes({ request }: { request: ApprovalDetails }) {
  const { approvals, votes = [], people } = request;
  const text = approvalsText(request);
  // A request that needs one approval has no list of votes, because its settlement shows the only vote.
  if (approvals === undefined || text === undefined) return null;
  return (
    <section class="votes" aria-label="Votes">
      <h2>Votes</h2>
      <p>
        <Foreign text={text} most={600} />
      </p>
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
