import { useRef, useState } from 'preact/hooks';
import type { BatchBody, InboxRow, Receipts } from '../../adapters/http/api.ts';
import type { Receipt } from '../../contract.ts';
import { sendJson } from '../api/fetch-json.ts';
import { newMessageId } from '../api/message-id.ts';
import { problemText } from '../api/problem-text.ts';
import { answerLostText, isAnswerLost, sendAgain } from '../api/send-again.ts';
import { Modal } from '../parts/modal.tsx';
import { useUndo } from '../request/use-undo.ts';
import { UndoBar } from '../request/undo-bar.tsx';
import { viewedSince } from '../request/viewed.ts';
import { announce } from '../state/announcements.ts';
import { requestKey } from '../state/request-key.ts';
import { BulkResults } from './bulk-results.tsx';
import { RowSentence } from './row-sentence.tsx';

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
  // A row that only the index describes has no sentence to approve, so an approval leaves it out.
  const [frozen] = useState(() => (approved ? requests.filter(({ waitsFor }) => waitsFor !== 'unknown') : requests));
  const leftOut = requests.length - frozen.length;
  // One attempt has one id, so that a retry gets the receipts of the first try.
  const attempt = useRef({ id: newMessageId(), shownAtMs: Date.now() }).current;
  /** What was sent, while nobody knows whether it arrived: exactly this is sent again. */
  const [unsure, setUnsure] = useState<BatchBody>();
  const undo = useUndo();
  const verb = approved ? 'Approve' : 'Deny';

  const send = async (): Promise<void> => {
    setSending(true);
    setProblem('');
    const body: BatchBody = unsure ?? {
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
      const isLost = isAnswerLost(error);
      if (isLost) setUnsure(body);
      setProblem(isLost ? answerLostText : problemText(error));
    }
    setSending(false);
  };

  // While the answer is on its way, the dialog stays open for its results.
  const close = (): void => {
    if (!isSending) onClose(false);
  };
  if (receipts !== undefined) {
    return <BulkResults requests={frozen} receipts={receipts} onClose={() => onClose(true)} />;
  }
  return (
    <Modal title={`${verb} ${frozen.length === 1 ? 'one request' : `${frozen.length} requests`}`} onClose={close}>
      <p>Exactly these, as you saw them. What comes later is not answered, and what has changed is refused.</p>
      <ol class="frozen">
        {frozen.map((row) => (
          <li key={requestKey(row)}>
            <RowSentence row={row} most={200} /> <span class={`severity ${row.severity}`}>{row.severity}</span>
          </li>
        ))}
      </ol>
      {frozen.some(({ shown }) => shown === 'part') && (
        <p class="note">The list does not show all arguments of these requests; open each to see them.</p>
      )}
      {leftOut > 0 && (
        <p class="note">
          {leftOut === 1 ? 'One more is' : `${leftOut} more are`} left out: no worker has said what the call is. Open it
          to read it.
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (undo.held !== undefined || isSending || frozen.length === 0) return;
          if (approved && unsure === undefined) undo.hold(() => void send());
          else void send();
        }}
      >
        <label>
          Reason (optional)
          <textarea
            maxLength={2_000}
            rows={2}
            value={reason}
            readOnly={isSending || unsure !== undefined}
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
            <button type="button" disabled={isSending} onClick={close}>
              {unsure === undefined ? 'Cancel' : 'Close'}
            </button>
            <button type="submit" class={approved ? undefined : 'primary'} disabled={isSending || frozen.length === 0}>
              {isSending ? 'Sending …' : unsure === undefined ? `${verb} ${frozen.length}` : 'Send it again'}
            </button>
          </p>
        )}
      </form>
    </Modal>
  );
}
