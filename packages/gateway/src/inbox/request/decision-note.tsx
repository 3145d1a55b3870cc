import { answerLostText } from '../api/send-again.ts';
import { Foreign } from '../parts/shown-text.tsx';
import type { DecisionState } from './use-decision.ts';

/** What became of the answer. */
export function DecisionNote({ state }: { state: DecisionState }) {
  switch (state.kind) {
    case 'idle':
      return null;
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
