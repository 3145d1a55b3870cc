import { useState } from 'preact/hooks';
import type { InboxRow } from '../../http/inbox/api.ts';
import { BulkDialog } from '../list/bulk-dialog.tsx';
import { FilterBar, SelectionBar, Tabs } from '../list/filter-bar.tsx';
import { groupsOf, readQuery, type Selection, toggled } from '../list/filters.ts';
import { ListNotes } from '../list/list-notes.tsx';
import { GroupRow } from '../list/group-row.tsx';
import { RequestRow } from '../list/request-row.tsx';
import { useListKeys } from '../list/use-list-keys.ts';
import { fewRows, useOpenView } from '../list/use-open-view.ts';
import { mayStop, StopAgentDialog } from '../run/stop-agent.tsx';
import { currentLocation } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { openRequests } from '../state/open-requests.ts';
import { isSameRequest, requestKey, requestParams } from '../state/paths.ts';
import { useStore } from '../state/store.ts';
import { Button, Checkbox } from '../parts/controls.tsx';

const mostSelected = 200;
const manyRows = 500;

export function InboxView() {
  const { path, query: address } = useStore(currentLocation);
  const open = requestParams(path);
  const state = useStore(openRequests);
  const me = meOf(useStore(session));
  const [limit, setLimit] = useState(fewRows);
  const [selection, setSelection] = useState<Selection>(new Map());
  const [bulk, setBulk] = useState<{ answer: 'approve' | 'deny' | 'stop'; rows: readonly InboxRow[] }>();
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const query = readQuery(address);
  const shown = useOpenView(state, query, limit);
  const rows = shown.view?.rows ?? [];
  const groups = groupsOf(rows);
  const isReviewer = me?.roles.includes('reviewer') ?? false;
  const toggle = (some: readonly InboxRow[]): void => setSelection((before) => toggled(before, some));
  const unfold = (workflowId: string): void =>
    setUnfolded(
      (before) =>
        new Set(before.has(workflowId) ? [...before].filter((each) => each !== workflowId) : [...before, workflowId]),
    );
  const selectable = rows.slice(0, mostSelected);
  const list = useListKeys({
    groups,
    toggle: isReviewer ? toggle : undefined,
    answer: isReviewer
      ? (answer, of) => setBulk({ answer, rows: selection.size > 0 ? [...selection.values()] : of })
      : undefined,
    hasSelection: selection.size > 0,
  });
  const rowProps = (row: InboxRow) => ({
    row,
    isSelected: selection.has(requestKey(row)),
    isOpen: open !== undefined && isSameRequest(row, open),
    toggle: isReviewer ? () => toggle([row]) : undefined,
  });
  const endBulk = (isDone: boolean): void => {
    setBulk(undefined);
    if (isDone) setSelection(new Map());
  };
  const matching = shown.view?.matching ?? 0;
  return (
    <>
      <div class="view-head">
        <h1 class="hidden-on-phone">Inbox</h1>
        <Tabs query={query} view={shown.view} />
      </div>
      <FilterBar query={query} tools={shown.view?.tools ?? []} agents={shown.view?.agents ?? []} />
      <ListNotes state={state} query={query} shown={shown} />
      {isReviewer && rows.length > 1 && (
        <Checkbox
          class="check select-all"
          checked={selectable.every((row) => selection.has(requestKey(row)))}
          change={() => toggle(selectable)}
        >
          Select all {selectable.length}
        </Checkbox>
      )}
      <ul class="requests" ref={list} aria-label="Open requests">
        {groups.flatMap((group) =>
          group.rows.length === 1
            ? [<RequestRow key={requestKey(group.rows[0]!)} {...rowProps(group.rows[0]!)} />]
            : [
                <GroupRow
                  key={group.workflowId}
                  group={group}
                  isUnfolded={unfolded.has(group.workflowId)}
                  unfold={() => unfold(group.workflowId)}
                  isSelected={group.rows.every((row) => selection.has(requestKey(row)))}
                  {...(isReviewer && {
                    toggle: () => toggle(group.rows),
                    answer: (answer: 'approve' | 'deny') => setBulk({ answer, rows: group.rows }),
                  })}
                />,
                ...(unfolded.has(group.workflowId)
                  ? group.rows.map((row) => <RequestRow key={requestKey(row)} {...rowProps(row)} isInGroup />)
                  : []),
              ],
        )}
      </ul>
      {matching > rows.length && (
        <p class="note plain">
          The first {rows.length} of {matching.toLocaleString('en')}.{' '}
          {limit < manyRows ? (
            <Button onClick={() => setLimit(manyRows)}>Show more</Button>
          ) : (
            'Filters and search find the others.'
          )}
        </p>
      )}
      {selection.size > 0 && (
        <SelectionBar
          count={selection.size}
          answer={(answer) => setBulk({ answer, rows: [...selection.values()] })}
          clear={() => setSelection(new Map())}
        />
      )}
      {bulk !== undefined &&
        (bulk.answer === 'stop' ? (
          <StopAgentDialog requests={bulk.rows} may={mayStop(me, bulk.rows)} onClose={endBulk} />
        ) : (
          <BulkDialog
            approved={bulk.answer === 'approve'}
            requests={bulk.rows}
            stop={() => setBulk({ ...bulk, answer: 'stop' })}
            onClose={endBulk}
          />
        ))}
    </>
  );
}
