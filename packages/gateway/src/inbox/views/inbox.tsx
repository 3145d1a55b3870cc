import { useState } from 'preact/hooks';
import type { InboxRow } from '../../http/inbox/api.ts';
import { BulkDialog } from '../list/bulk-dialog.tsx';
import { FilterBar, SelectionBar } from '../list/filter-bar.tsx';
import { admits, readFilters, type Selection, selectionOf, toggled } from '../list/filters.ts';
import { ListNotes } from '../list/list-notes.tsx';
import { RequestRow } from '../list/request-row.tsx';
import { useListKeys } from '../list/use-list-keys.ts';
import { currentLocation } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { openRequests } from '../state/open-requests.ts';
import { requestKey } from '../state/paths.ts';
import { useStore } from '../state/store.ts';

/** The open requests of all runs, live. */
export function InboxView() {
  const { query } = useStore(currentLocation);
  const state = useStore(openRequests);
  const me = meOf(useStore(session));
  const [selection, setSelection] = useState<Selection>(new Map());
  const [bulk, setBulk] = useState<'approve' | 'deny'>();
  const filters = readFilters(query);
  const rows = state.open?.rows ?? [];
  const shown = rows.filter((row) => admits(filters, row));
  const toggle = (row: InboxRow): void => setSelection((before) => toggled(before, row));
  // One answer applies to at most this many.
  const selectable = shown.slice(0, 200);
  const isAllSelected = selectable.every((row) => selection.has(requestKey(row)));
  const isReviewer = me?.roles.includes('reviewer') ?? false;
  const list = useListKeys({
    rows: shown,
    toggle,
    answer: selection.size > 0 && isReviewer ? setBulk : undefined,
  });
  return (
    <>
      <h1>
        Inbox{' '}
        {state.open !== undefined && (
          <span class="count">
            {shown.length === rows.length ? rows.length : `${shown.length} of ${rows.length}`} open
          </span>
        )}
      </h1>
      <FilterBar filters={filters} rows={rows} />
      <ListNotes state={state} shown={shown.length} />
      {isReviewer && shown.length > 1 && (
        <label class="check select-all">
          <input
            type="checkbox"
            checked={isAllSelected}
            onChange={() => setSelection(isAllSelected ? new Map() : selectionOf(selectable))}
          />
          Select all {selectable.length}
        </label>
      )}
      <ul class="requests" ref={list} aria-label="Open requests">
        {shown.map((row) => (
          <RequestRow
            key={requestKey(row)}
            row={row}
            isSelected={selection.has(requestKey(row))}
            toggle={isReviewer ? toggle : undefined}
          />
        ))}
      </ul>
      {selection.size > 0 && (
        <SelectionBar count={selection.size} answer={setBulk} clear={() => setSelection(new Map())} />
      )}
      {bulk !== undefined && (
        <BulkDialog
          approved={bulk === 'approve'}
          requests={[...selection.values()]}
          onClose={(isDone) => {
            setBulk(undefined);
            if (isDone) setSelection(new Map());
          }}
        />
      )}
    </>
  );
}
