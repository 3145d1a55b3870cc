import type { Receipt } from 'countersign/client';
import type { InboxRow } from '../../http/inbox/api.ts';
import { Modal } from '../parts/modal.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { requestKey } from '../state/request-key.ts';
import { RowSentence } from './row-sentence.tsx';

interface BulkResultsProps {
  requests: readonly InboxRow[];
  /** One for each request, in their order. */
  receipts: readonly Receipt[];
  onClose: () => void;
}

/** What became of one answer to several requests. */
export function BulkResults({ requests, receipts, onClose }: BulkResultsProps) {
  return (
    <Modal title="Results" onClose={onClose}>
      <ul class="results">
        {requests.map((row, index) => (
          <li key={requestKey(row)} class={receipts[index]?.accepted === true ? 'good' : 'bad'}>
            <RowSentence row={row} most={200} />
            <p>{receipts[index] === undefined ? 'no result' : <Result receipt={receipts[index]} />}</p>
          </li>
        ))}
      </ul>
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </p>
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
