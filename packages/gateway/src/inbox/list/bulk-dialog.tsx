import { useEffect, useRef, useState } from 'preact/hooks';
import type { Receipt } from 'countersign/client';
import type { BatchBody, InboxRow, Receipts } from '../../http/inbox/api.ts';
import { sendJson } from '../api/fetch-json.ts';
import { newMessageId } from '../api/message-id.ts';
import { problemText } from '../api/problem-text.ts';
import { answerLostText, isAnswerLost, sendAgain } from '../api/send-again.ts';
import { Modal } from '../parts/modal.tsx';
import { useUndo } from '../request/use-undo.ts';
import { UndoBar } from '../request/undo-bar.tsx';
import { viewedSince } from '../request/viewed.ts';
import { announce } from '../state/announcements.ts';
import { BulkList, LeftOut } from './bulk-list.tsx';
import { BulkResults } from './bulk-results.tsx';
import { useBulkItems } from './use-bulk-items.ts';

interface BulkDialogProps {
  approved: boolean;
  /** As they were when they were selected: this set does not change. */
  requests: readonly InboxRow[];
  /** `isDone`: there are results. */
  onClose: (isDone: boolean) => void;
}

/** One answer to all selected requests, and a result for each. An approval is only about what is shown here in full. */
export function BulkDialog({ approved, requests, onClose }: BulkDialogProps) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const [receipts, setReceipts] = useState<readonly Receipt[]>();
  const items = useBulkItems(requests, approved);
  const answered = items?.filter(({ leftOut }) => leftOut === undefined) ?? [];
  const count = answered.length;
  // One attempt has one id, so that a retry gets the receipts of the first try.
  const attempt = useRef({ id: newMessageId(), shownAtMs: Date.now() }).current;
  useEffect(() => {
    attempt.shownAtMs = Date.now();
  }, [items]);
  /** What was sent, while nobody knows whether it arrived: exactly this is sent again. */
  const [unsure, setUnsure] = useState<BatchBody>();
  const undo = useUndo();
  const verb = approved ? 'Approve' : 'Deny';

  const send = async (): Promise<void> => {
    setSending(true);
    setProblem('');
    const body: BatchBody = unsure ?? {
      requests: answered.map(({ row: { requestId, workflowId, digest } }) => ({ requestId, workflowId, digest })),
      approved,
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      decisionId: attempt.id,
      viewed: viewedSince(attempt.shownAtMs),
    };
    try {
      const answer = await sendAgain(() => sendJson<Receipts>('POST', '/approvals/decide', body));
      setReceipts(answer.receipts);
      const accepted = answer.receipts.filter((each) => each.accepted).length;
      announce(`${accepted} of ${count} answered.`, accepted === count ? 'good' : 'bad');
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
    return <BulkResults requests={answered.map(({ row }) => row)} receipts={receipts} onClose={() => onClose(true)} />;
  }
  if (items === undefined) {
    return (
      <Modal key="reading" title={`${verb} several requests`} onClose={close}>
        <p role="status">Reading {requests.length === 1 ? 'the request' : `${requests.length} requests`} …</p>
        <p class="buttons">
          <button type="button" autofocus onClick={close}>
            Cancel
          </button>
        </p>
      </Modal>
    );
  }
  return (
    <Modal key="read" title={`${verb} ${count === 1 ? 'one request' : `${count} requests`}`} onClose={close}>
      <p class="soft">Exactly these, as they are shown here. What has changed since is refused.</p>
      {count > 0 && <BulkList items={answered} />}
      <LeftOut items={items.filter(({ leftOut }) => leftOut !== undefined)} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (undo.held !== undefined || isSending || count === 0) return;
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
          <UndoBar held={undo.held} undo={undo.cancel}>
            Approving {count === 1 ? 'one request' : `${count} requests`}
          </UndoBar>
        ) : (
          <p class="buttons">
            <button type="button" disabled={isSending} onClick={close}>
              {unsure === undefined ? 'Cancel' : 'Close'}
            </button>
            <button type="submit" class={approved ? undefined : 'primary'} disabled={isSending || count === 0}>
              {isSending ? 'Sending …' : unsure === undefined ? `${verb} ${count}` : 'Send it again'}
            </button>
          </p>
        )}
      </form>
    </Modal>
  );
}
