import { useEffect, useRef, useState } from 'preact/hooks';
import type { Receipt } from 'countersign/client';
import type { BatchBody, InboxRow, Receipts, ApprovalView } from '../../http/inbox/api.ts';
import * as api from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';
import { Modal } from '../parts/modal.tsx';
import { useUndo, UndoBar } from '../request/undo.tsx';
import { viewedSince, whyNotApprove } from '../request/use-decision.ts';
import { announceText } from '../state/store.ts';
import { Foreign, Marked } from '../parts/shown-text.tsx';
import { requestKey } from '../state/paths.ts';
import { argumentBlocks } from 'countersign/card';
import { ArgumentBlocks } from '../request/argument-rows.tsx';
import { CardChanges, CardWarnings } from '../request/card-article.tsx';
import { SeverityMark } from './request-row.tsx';
import { requestHref } from '../state/location.ts';
import { Button, onSend, ProblemText, TextArea } from '../parts/controls.tsx';

/** How many requests are read at a time. A browser opens about six connections, of which streams need some. */
const atOnce = 4;

interface BulkResultsProps {
  requests: readonly InboxRow[];
  receipts: readonly Receipt[];
  onClose: () => void;
}

interface BulkDialogProps {
  approved: boolean;
  /** The requests as they were when the user selected them. They do not change while the dialog is open. */
  requests: readonly InboxRow[];
  stop: () => void;
  onClose: (isDone: boolean) => void;
}

/** The dialog that gives one answer to all selected requests. It approves only requests that it shows completely. */
export function BulkDialog({ approved, requests, stop, onClose }: BulkDialogProps) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const [receipts, setReceipts] = useState<readonly Receipt[]>();
  const items = useBulkItems(requests, approved);
  const answered = items?.filter(({ leftOut }) => leftOut === undefined) ?? [];
  const count = answered.length;
  // Retries send the same id, so that the gateway returns the receipts of the first attempt.
  const attempt = useRef({ id: api.newMessageId(), shownAtMs: Date.now() }).current;
  useEffect(() => {
    attempt.shownAtMs = Date.now();
  }, [items]);
  /** The body that was sent, if its response was lost. A retry sends exactly this body. */
  const [unsure, setUnsure] = useState<BatchBody>();
  const undo = useUndo();
  const deadlines = answered.map(({ row }) => row.deadline);
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
      const answer = await api.sendAgain(() => api.sendJson<Receipts>('POST', '/approvals/decide', body));
      setReceipts(answer.receipts);
      const accepted = answer.receipts.filter((each) => each.accepted).length;
      announceText(`${accepted} of ${count} answered.`, accepted === count ? 'good' : 'bad');
    } catch (error) {
      const isLost = api.isAnswerLost(error);
      if (isLost) setUnsure(body);
      setProblem(isLost ? api.answerLostText : problemText(error));
    }
    setSending(false);
  };

  // The dialog stays open while it sends, so that it can show the results.
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
          <Button autofocus onClick={close}>
            Cancel
          </Button>
        </p>
      </Modal>
    );
  }
  return (
    <Modal key="read" title={`${verb} ${count === 1 ? 'one request' : `${count} requests`}`} onClose={close}>
      <p class="soft">Exactly these, as they are shown here. What has changed since is refused.</p>
      {count > 0 && <BulkList items={answered} />}
      <LeftOutItems items={items.filter(({ leftOut }) => leftOut !== undefined)} />
      <form
        onSubmit={onSend(() => {
          if (undo.held !== undefined || isSending || count === 0) return;
          if (approved && unsure === undefined) undo.hold(() => void send(), deadlines);
          else void send();
        })}
      >
        <TextArea
          label="Reason, which the model reads (optional)"
          maxLength={2_000}
          rows={2}
          value={reason}
          readOnly={isSending || unsure !== undefined}
          change={setReason}
        />
        <ProblemText>{problem}</ProblemText>
        {undo.held !== undefined ? (
          <UndoBar held={undo.held} undo={undo.cancel}>
            Approving {count === 1 ? 'one request' : `${count} requests`}. You can still undo it.
          </UndoBar>
        ) : (
          <p class="buttons">
            <Button disabled={isSending} onClick={close}>
              {unsure === undefined ? 'Cancel' : 'Close'}
            </Button>
            {!approved && unsure === undefined && (
              <Button disabled={isSending} onClick={stop}>
                Stop the agent …
              </Button>
            )}
            <button type="submit" class={approved ? undefined : 'primary'} disabled={isSending || count === 0}>
              {isSending ? 'Sending …' : unsure === undefined ? `${verb} ${count}` : 'Send it again'}
            </button>
          </p>
        )}
      </form>
    </Modal>
  );
}

/** The dialog with the result of each request. The receipts are in the order of the requests. */
function BulkResults({ requests, receipts, onClose }: BulkResultsProps) {
  return (
    <Modal title="Results" onClose={onClose}>
      <ul class="results">
        {requests.map((row, index) => (
          <li key={requestKey(row)} class={receipts[index]?.accepted === true ? 'good' : 'bad'}>
            <Marked text={row.sentence} />
            <p>{receipts[index] === undefined ? 'no result' : <Result receipt={receipts[index]} />}</p>
          </li>
        ))}
      </ul>
      <p class="buttons">
        <Button class="primary" onClick={onClose}>
          Done
        </Button>
      </p>
    </Modal>
  );
}

/** What became of one answer: why it does not count, how many votes there are, or the outcome. */
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

/** The items of the selected requests. For an approval, each request is read first; until then, undefined. */
function useBulkItems(requests: readonly InboxRow[], approved: boolean): readonly BulkItem[] | undefined {
  const [items, setItems] = useState<readonly BulkItem[] | undefined>(() =>
    approved ? undefined : requests.map(itemOf),
  );
  useEffect(() => {
    if (!approved) return undefined;
    const over = new AbortController();
    void readAll(requests, over.signal).then((read) => !over.signal.aborted && setItems(read));
    return () => over.abort();
  }, []);
  return items;
}

function itemOf(row: InboxRow): BulkItem {
  const leftOut = whyLeftOut(row);
  return leftOut === undefined ? { row } : { row, leftOut };
}

/** Reads the requests that are not left out already, `atOnce` at a time. The items keep the order of the rows. */
async function readAll(rows: readonly InboxRow[], signal: AbortSignal): Promise<BulkItem[]> {
  const items = rows.map(itemOf);
  const unread = items.flatMap(({ leftOut }, index) => (leftOut === undefined ? [index] : []));
  const readNext = async (): Promise<void> => {
    for (let next = unread.shift(); next !== undefined; next = unread.shift()) {
      items[next] = await readOne(rows[next]!, signal);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, readNext));
  return items;
}

async function readOne(row: InboxRow, signal: AbortSignal): Promise<BulkItem> {
  try {
    return readItem(row, await api.getJson<ApprovalView>(api.requestPath(row), signal));
  } catch (error) {
    return { row, leftOut: problemText(error) };
  }
}

const longest = 200;

export function BulkList({ items }: { items: readonly BulkItem[] }) {
  return (
    <ol class="frozen" aria-label="Answered together" tabIndex={0}>
      {items.map(({ row, view }) => (
        <li key={requestKey(row)}>
          <p class="frozen-title">
            <span>
              <Marked text={row.sentence} />
            </span>
            <SeverityMark severity={row.severity} />
          </p>
          {view !== undefined && (
            <>
              <CardWarnings card={view.card} />
              <ArgumentBlocks blocks={argumentBlocks(view.card.arguments)} />
              {view.card.preview !== undefined && <CardChanges card={view.card} />}
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

export function LeftOutItems({ items }: { items: readonly BulkItem[] }) {
  if (items.length === 0) return null;
  return (
    <section class="note left-out" aria-label="Left out">
      <p>
        <strong>{items.length === 1 ? 'One request is' : `${items.length} requests are`} left out.</strong> Open each to
        answer it.
      </p>
      <ul>
        {items.map(({ row, leftOut }) => (
          <li key={requestKey(row)}>
            <a href={requestHref(row)} target="_blank" rel="noreferrer">
              <Marked text={row.sentence} />
            </a>
            : <Foreign text={leftOut ?? ''} most={longest} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A selected request. `view`: present if the request was read. `leftOut`: why the request gets no answer here. */
export interface BulkItem {
  row: InboxRow;
  view?: ApprovalView;
  leftOut?: string;
}

/** Why the gateway would refuse an answer, as far as the row says; undefined if it would accept one. */
export function whyLeftOut({ waitsFor }: InboxRow): string | undefined {
  return waitsFor === 'others' ? 'it waits for others' : undefined;
}

/** Makes the item of a request that was read. The dialog leaves out a request that it cannot show completely. */
export function readItem(row: InboxRow, view: ApprovalView): BulkItem {
  const { request, card, waitsFor } = view;
  if (request.settled !== undefined) return { row, leftOut: 'it is settled' };
  if (request.digest !== row.digest) return { row, leftOut: 'it has changed' };
  if (waitsFor === 'others') return { row, leftOut: 'it waits for others' };
  if (whyNotApprove(request, card.whole) === undefined) return { row, view };
  return {
    row,
    leftOut:
      card.preview?.state === 'pending' ? 'the tool still works out what would change' : 'not all of it fits here',
  };
}
