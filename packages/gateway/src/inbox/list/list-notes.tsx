import { useState } from 'preact/hooks';
import type { InboxPage } from '../../http/inbox/api.ts';
import { getJson } from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';
import { Foreign } from '../parts/shown-text.tsx';
import { announceText } from '../state/store.ts';
import { type OpenRequests, openRequests } from '../state/open-requests.ts';
import { withPage } from '../state/open-rows.ts';

/** What there is to know of the list beside its rows: loading, empty, offline, more than is shown. */
export function ListNotes({ state, shown }: { state: OpenRequests; shown: number }) {
  const { open, stream, trouble } = state;
  return (
    <div class="notes">
      {stream === 'lost' && (
        <p class="note bad">The gateway cannot be reached. What you see may be old; trying again …</p>
      )}
      {trouble !== undefined && (
        <p class="note bad">
          The gateway has a problem: <Foreign text={trouble.message} />
        </p>
      )}
      {open === undefined && stream !== 'lost' && <p class="note">Loading the open requests …</p>}
      {open !== undefined && open.rows.length === 0 && open.unread.length === 0 && (
        <p class="note empty">Nothing waits for an answer. New requests appear here by themselves.</p>
      )}
      {open !== undefined && open.rows.length > 0 && shown === 0 && (
        <p class="note empty">No open request fits the filters.</p>
      )}
      {open?.unread.map(({ workflowId, requestIds, message }) => (
        <p class="note bad" key={workflowId}>
          {requestIds.length === 1 ? 'One request' : `${requestIds.length} requests`} of run{' '}
          <Foreign text={workflowId} /> cannot be read: <Foreign text={message} />
        </p>
      ))}
      {open !== undefined && (open.more > 0 || open.next !== undefined) && <More count={open.more} after={open.next} />}
    </div>
  );
}

function More({ count, after }: { count: number; after?: string }) {
  const [isLoading, setLoading] = useState(false);
  const load = async (place: string): Promise<void> => {
    setLoading(true);
    try {
      const page = await getJson<InboxPage>(`/approvals?after=${encodeURIComponent(place)}`);
      openRequests.update((state) =>
        state.open === undefined ? state : { ...state, open: withPage(state.open, page) },
      );
    } catch (error) {
      announceText(problemText(error), 'bad');
    }
    setLoading(false);
  };
  return (
    <p class="note">
      {count > 0 ? `${count} more open requests are not listed here. ` : 'There may be more open requests. '}
      {after !== undefined && (
        <button type="button" disabled={isLoading} onClick={() => void load(after)}>
          Load more
        </button>
      )}
    </p>
  );
}
