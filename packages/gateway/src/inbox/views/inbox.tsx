import { useState, useRef } from 'preact/hooks';
import type { InboxRow } from '../../http/inbox/api.ts';
import { BulkDialog } from '../list/bulk-dialog.tsx';
import { FilterBar, SelectionBar, Tabs, clearFilters } from '../list/filter-bar.tsx';
import { groupsOf, readQuery, toggled, isFiltered, type Selection, type RowGroup } from '../list/filters.ts';
import { RequestRow, SeverityMark } from '../list/request-row.tsx';
import { fewRows, useOpenView, type ShownView } from '../list/use-open-view.ts';
import { mayStop, StopAgentDialog } from '../run/stop-agent.tsx';
import { currentLocation, inListHref, navigate } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { openRequests, type OpenRequests } from '../state/open-requests.ts';
import { isSameRequest, requestKey, requestParams } from '../state/paths.ts';
import { useStore } from '../state/store.ts';
import { Button, Checkbox } from '../parts/controls.tsx';
import { inboxOrder, type OpenQuery } from '../../http/inbox/open-view.ts';
import { FirstSteps } from '../parts/first-steps.tsx';
import { FailureNote, Foreign } from '../parts/shown-text.tsx';
import type { RefObject } from 'preact';
import { useShortcuts } from '../state/shortcuts.ts';
import { severities, visibleText } from 'countersign/base';
import { TimeLeft } from '../parts/time.tsx';

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

interface ListKeys {
  groups: readonly RowGroup[];
  /** Selects rows, or deselects them. If the user cannot answer, this and `answer` are undefined. */
  toggle: ((rows: readonly InboxRow[]) => void) | undefined;
  /** Opens the dialog that answers the selected rows, or these rows if no row is selected. */
  answer: ((answer: 'approve' | 'deny', rows: readonly InboxRow[]) => void) | undefined;
  hasSelection: boolean;
}

/** The keys of the list. `a` and `d` send no answer: they open the dialog for several, or the request for one. */
export function useListKeys({ groups, toggle, answer, hasSelection }: ListKeys): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  const rowsOnPage = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>('li') ?? [])];
  const focusedRow = (): HTMLElement | undefined => rowsOnPage().find((each) => each.contains(document.activeElement));
  const move = (by: number): void => {
    const all = rowsOnPage();
    const openRow = all.find((each) => each.querySelector('[aria-current]') !== null);
    const from = all.indexOf((focusedRow() ?? openRow)!);
    const to = from === -1 ? 0 : Math.max(0, Math.min(all.length - 1, from + by));
    all[to]?.querySelector<HTMLElement>('.open')?.focus();
  };
  /** The rows of the focused group, or the focused row. */
  const focusedRequests = (): readonly InboxRow[] => {
    const { run, request } = focusedRow()?.dataset ?? {};
    if (run !== undefined)
      return groups.find(({ workflowId, rows }) => workflowId === run && rows.length > 1)?.rows ?? [];
    return groups.flatMap(({ rows }) => rows).filter((row) => requestKey(row) === request);
  };
  /** True if the keys belong to the request that is open beside the list, because the focus is not in the list. */
  const isForRequest = (): boolean =>
    focusedRow() === undefined && requestParams(currentLocation.get().path) !== undefined;
  const prepare = (which: 'approve' | 'deny') => () => {
    if (isForRequest()) return false;
    const rows = focusedRequests();
    if (answer !== undefined && (hasSelection || rows.length > 1)) answer(which, rows);
    else if (rows[0] !== undefined) navigate(inListHref(rows[0], { answer: which }));
    return true;
  };
  const scrollOr = (by: number) => () => {
    if (isForRequest()) return false;
    move(by);
    return true;
  };
  useShortcuts({
    j: () => move(1),
    ArrowDown: scrollOr(1),
    k: () => move(-1),
    ArrowUp: scrollOr(-1),
    x: () => {
      if (isForRequest()) return false;
      const rows = focusedRequests();
      if (rows.length > 0) toggle?.(rows);
      return true;
    },
    '/': () => document.querySelector<HTMLInputElement>('.filters .search input')?.focus(),
    a: prepare('approve'),
    d: prepare('deny'),
  });
  return list;
}

interface GroupProps {
  group: RowGroup;
  isUnfolded: boolean;
  unfold: () => void;
  isSelected: boolean;
  /** Selects all rows of the group. If the user cannot answer, this and `answer` are absent. */
  toggle?: () => void;
  answer?: (answer: 'approve' | 'deny') => void;
}

/** The requests of one run as one row, with the worst severity and the earliest deadline. A button unfolds them. */
export function GroupRow({ group: { workflowId, rows }, isUnfolded, unfold, isSelected, toggle, answer }: GroupProps) {
  const [earliest] = rows.toSorted(inboxOrder);
  const tools = new Set(rows.map(({ toolName }) => toolName));
  const what = tools.size === 1 ? visibleText(rows[0]!.toolName).slice(0, 100) : `Calls of ${tools.size} tools`;
  const { requestedAt, deadline, agentName } = earliest!;
  return (
    <li class={isSelected ? 'group selected' : 'group'} data-run={workflowId}>
      {toggle !== undefined && (
        <Checkbox class="select" checked={isSelected} change={toggle}>
          <span class="visually-hidden">Select all {rows.length} requests of this run</span>
        </Checkbox>
      )}
      <Button class="open" aria-expanded={isUnfolded} onClick={unfold}>
        {what} × {rows.length}
      </Button>
      <p class="facts">
        <SeverityMark severity={worstOf(rows)} />
        <TimeLeft requestedAt={requestedAt} deadline={deadline} />
        <span>
          agent <Foreign text={agentName} most={100} />
        </span>
      </p>
      {answer !== undefined && (
        <p class="buttons">
          <Button onClick={() => answer('deny')}>Deny {rows.length} …</Button>
          <Button onClick={() => answer('approve')}>Approve {rows.length} …</Button>
        </p>
      )}
    </li>
  );
}

function worstOf(rows: readonly InboxRow[]): string {
  const ranks = rows.map(({ severity }) => severities.indexOf(severity));
  return severities[Math.max(0, ...ranks)]!;
}
