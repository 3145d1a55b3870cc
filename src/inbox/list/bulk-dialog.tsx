import { useRef, useState } from 'preact/hooks';
import type { BatchBody, InboxRow, Receipts } from '../../adapters/http/api.ts';
import type { Receipt } from '../../contract.ts';
import { ApiProblem, sendJson } from '../api/fetch-json.ts';
import { sendAgain } from '../api/send-again.ts';
import { Modal } from '../parts/modal.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { useUndo } from '../request/use-undo.ts';
import { UndoBar } from '../request/undo-bar.tsx';
import { newDecisionId, viewedSince } from '../request/viewed.ts';
import { announce } from '../state/announcements.ts';
import { RowSentence } from './row-sentence.tsx';
import { rowKey } from './selection.ts';

interface BulkDialogProps {
  approved: boolean;
  /** As they were when they were selected: this set does not change. */
  requests: readonly InboxRow[];
  /** `isDone`: there are results. */
  onClose: (isDone: boolean) => void;
}

/** One answer to all selected requests, and a result for each. */
export function BulkDialog({ approved, requests, onClose }: BulkDialogProps) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const [receipts, setReceipts] = useState<readonly Receipt[]>();
  const [frozen] = useState(requests);
  // One attempt has one id, so that a retry gets the receipts of the first try.
  const attempt = useRef({ id: newDecisionId(), shownAtMs: Date.now() }).current;
  const undo = useUndo();
  const verb = approved ? 'Approve' : 'Deny';

  const send = async (): Promise<void> => {
    setSending(true);
    setProblem('');
    const body: BatchBody = {
      requests: frozen.map(({ requestId, workflowId, digest }) => ({ requestId, workflowId, digest })),
      approved,
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      decisionId: attempt.id,
      viewed: viewedSince(attempt.shownAtMs),
    };
    try {
      const answer = await sendAgain(() => sendJson<Receipts>('POST', '/approvals/decide', body));
      setReceipts(answer.receipts);
      const count = answer.receipts.filter(({ accepted }) => accepted).length;
      announce(`${count} of ${frozen.length} answered.`, count === frozen.length ? 'good' : 'bad');
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error.message : String(error));
    }
    setSending(false);
  };

  if (receipts !== undefined) {
    return (
      <Modal title="Results" onClose={() => onClose(true)}>
        <ul class="results">
          {frozen.map((row, index) => (
            <li key={rowKey(row)} class={receipts[index]?.accepted === true ? 'good' : 'bad'}>
              <RowSentence row={row} most={200} />
              <p>{receipts[index] === undefined ? 'no result' : <Result receipt={receipts[index]} />}</p>
            </li>
          ))}
        </ul>
        <p class="buttons">
          <button type="button" class="primary" onClick={() => onClose(true)}>
            Done
          </button>
        </p>
      </Modal>
    );
  }
  return (
    <Modal
      title={`${verb} ${frozen.length === 1 ? 'one request' : `${frozen.length} requests`}`}
      onClose={() => onClose(false)}
    >
      <p>Exactly these, as you saw them. What comes later is not answered, and what has changed is refused.</p>
      <ol class="frozen">
        {frozen.map((row) => (
          <li key={rowKey(row)}>
            <RowSentence row={row} most={200} /> <span class={`severity ${row.severity}`}>{row.severity}</span>
          </li>
        ))}
      </ol>
      {frozen.some(({ shown }) => shown === 'part') && (
        <p class="note">The list does not show all arguments of these requests; open each to see them.</p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (undo.held !== undefined || isSending) return;
          if (approved) undo.hold(() => void send());
          else void send();
        }}
      >
        <label>
          Reason (may be empty)
          <textarea
            maxLength={2_000}
            rows={2}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        <p class="problem" role="alert">
          {problem}
        </p>
        {undo.held !== undefined ? (
          <UndoBar held={undo.held} undo={undo.cancel} />
        ) : (
          <p class="buttons">
            <button type="button" onClick={() => onClose(false)}>
              Cancel
            </button>
            <button type="submit" class={approved ? undefined : 'primary'} disabled={isSending}>
              {isSending ? 'Sending …' : `${verb} ${frozen.length}`}
            </button>
          </p>
        )}
      </form>
    </Modal>
  );
}

function Result({ receipt }: { receipt: Receipt }) {
  const { accepted, outcome, votes, recorded, code, settledBy, message } = receipt;
  if (!accepted) {
    const who = settledBy === undefined ? '' : ` by ${settledBy}`;
    return (
      <>
        Not answered: <Foreign text={code === 'already_settled' ? `settled elsewhere${who}` : message} />
      </>
    );
  }
  if (votes !== undefined && outcome === undefined) return <>Your vote counts: {`${votes.have} of ${votes.need}`}</>;
  return <>{recorded === true ? 'Recorded: the next worker applies it' : (outcome ?? 'accepted')}</>;
}
