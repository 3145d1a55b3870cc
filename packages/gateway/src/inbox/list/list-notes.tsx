import type { OpenQuery } from '../../http/inbox/open-view.ts';
import { FirstSteps } from '../parts/first-steps.tsx';
import { FailureNote, Foreign } from '../parts/shown-text.tsx';
import type { OpenRequests } from '../state/open-requests.ts';
import { clearFilters } from './filter-bar.tsx';
import { isFiltered } from './filters.ts';
import type { ShownView } from './use-open-view.ts';
import { Button } from '../parts/controls.tsx';

interface ListNotesProps {
  state: OpenRequests;
  query: OpenQuery;
  shown: ShownView;
}

export function ListNotes({ state, query, shown: { view, isSearching, problem } }: ListNotesProps) {
  const { open, stream, trouble } = state;
  const hasNone = open !== undefined && open.rows.length === 0 && open.more === 0 && open.unread.length === 0;
  return (
    <div class="notes">
      {stream === 'lost' && (
        <p class="note bad">The gateway cannot be reached. What you see may be old; trying again …</p>
      )}
      <FailureNote words="The gateway has a problem: " message={trouble?.message} />
      <FailureNote words="Not all open requests could be searched: " message={problem} />
      {open === undefined && stream !== 'lost' && <p class="note">Loading the open requests …</p>}
      {isSearching && <p class="note plain">Searching all open requests …</p>}
      {hasNone && (
        <>
          <p class="note empty">Nothing waits for an answer. New requests appear here by themselves.</p>
          <FirstSteps />
        </>
      )}
      {!hasNone && !isSearching && view !== undefined && view.matching === 0 && (
        <div class="note empty">
          {isFiltered(query) ? (
            <p>
              No open request matches. <Button onClick={clearFilters}>Clear filters</Button>
            </p>
          ) : (
            <p>{emptyTab[view.tab]}</p>
          )}
        </div>
      )}
      {query.text !== '' && view !== undefined && view.unsearched > 0 && (
        <p class="note plain">
          The search covers sentences, names and shown values.{' '}
          {view.unsearched === 1 ? 'One request has' : `${view.unsearched.toLocaleString('en')} requests have`} values
          that the list does not hold.
        </p>
      )}
      {open?.unread.map(({ workflowId, requestIds, message }) => (
        <p class="note bad" key={workflowId}>
          {requestIds.length === 1 ? 'One request' : `${requestIds.length} requests`} of run{' '}
          <Foreign text={workflowId} /> cannot be read: <Foreign text={message} />
        </p>
      ))}
    </div>
  );
}

const emptyTab: Readonly<Record<NonNullable<ShownView['view']>['tab'], string>> = {
  mine: 'No request waits for you.',
  anyone: 'No request can be answered by anyone.',
  others: 'No request waits for other people.',
};
