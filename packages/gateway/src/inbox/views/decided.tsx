import type { DecidedList } from '../../http/inbox/api.ts';
import { useJson } from '../api/use-json.ts';
import { nameChoice, Tabs } from '../list/filter-bar.tsx';
import { fewRows, useOpenView } from '../list/use-open-view.ts';
import { SelectField } from '../parts/controls.tsx';
import { LocalTime } from '../parts/time.tsx';
import { FailureNote, Foreign, Named } from '../parts/shown-text.tsx';
import { currentLocation, hrefOf, navigate, requestHref } from '../state/location.ts';
import { openRequests } from '../state/open-requests.ts';
import { queryText } from '../state/paths.ts';
import { medianText, ranWords } from '../state/texts.ts';
import { useStore } from '../state/store.ts';
import { wholeQuery } from '../../http/inbox/open-view.ts';

const hourMs = 3_600_000;
const periods: Readonly<Record<string, number>> = { '1': 1, '7': 7, '30': 30 };
const outcomes = ['approved', 'denied', 'responded', 'expired', 'cancelled', 'superseded'];

export function DecidedView() {
  const { query } = useStore(currentLocation);
  const { view } = useOpenView(useStore(openRequests), wholeQuery, fewRows);
  const given = new URLSearchParams(query);
  const days = periods[given.get('days') ?? ''] ?? 7;
  const asked = new URLSearchParams({ since: sinceOf(days) });
  for (const name of ['by', 'outcome', 'tool']) {
    const value = given.get(name);
    if (value !== null) asked.set(name, value);
  }
  const { value, problem, isLoading } = useJson<DecidedList>(`/decided?${asked.toString()}`);
  const change = (name: string, chosen: string): void => {
    const next = new URLSearchParams(currentLocation.get().query);
    if (chosen === '') next.delete(name);
    else next.set(name, chosen);
    navigate(hrefOf(`/decided${queryText(next)}`), { replace: true });
  };
  const select = (name: string, label: string, choices: readonly (readonly [string, string])[]) => (
    <SelectField
      label={label}
      value={given.get(name) ?? ''}
      choices={choices}
      choose={(chosen) => change(name, chosen)}
    />
  );
  return (
    <>
      <div class="view-head">
        <h1 class="hidden-on-phone">Inbox</h1>
        <Tabs query={wholeQuery} view={view} isDecided />
      </div>
      <form class="filters plain" aria-label="Filter the decided requests" onSubmit={(event) => event.preventDefault()}>
        {select('by', 'Decided by', [
          ['', 'everyone'],
          ['me', 'me'],
        ])}
        {select('outcome', 'Outcome', [['', 'all'], ...outcomes.map((each) => [each, each] as const)])}
        {select('tool', 'Tool', [['', 'all'], ...(value?.tools ?? []).map(nameChoice)])}
        {select('days', 'Since', [
          ['1', 'yesterday'],
          ['', '7 days ago'],
          ['30', '30 days ago'],
        ])}
        <a class="button" href={`/decided?${asked.toString()}&format=csv`} download="decided.csv" target="_blank">
          Export CSV
        </a>
      </form>
      <FailureNote message={problem?.message} isAlert />
      {value === undefined && isLoading && <p class="note plain">Reading the histories of recent runs …</p>}
      {value?.requests.length === 0 && <p class="note empty">Nothing was decided in this time.</p>}
      {value !== undefined && <Coverage list={value} />}
      <ul class="rows" aria-label="Decided requests">
        {value?.requests.map((request) => (
          <DecidedRow key={`${request.workflowId} ${request.requestId}`} request={request} />
        ))}
      </ul>
    </>
  );
}

function DecidedRow({ request }: { request: DecidedList['requests'][number] }) {
  const { toolName, agent, outcome, reviewers, reason, edited, settledAt, tookMs, ran } = request;
  return (
    <li>
      <div>
        <a class="row-link" href={requestHref(request)}>
          <Foreign text={toolName} most={100} />
        </a>
        <p class="soft">
          {reviewers.length > 0 && (
            <>
              by <Foreign text={reviewers.join(', ')} most={300} /> ·{' '}
            </>
          )}
          <LocalTime at={settledAt} /> · after {medianText(tookMs)}
          <Named before=" · agent " text={agent} />
          {edited === true && ' · arguments edited'}
          {ran !== undefined && ` · ${ranWords[ran]}`}
        </p>
        {reason !== undefined && (
          <p>
            <Foreign text={reason} most={300} />
          </p>
        )}
      </div>
      <span class={`run-status ${outcome}`}>{outcome.replaceAll('_', ' ')}</span>
    </li>
  );
}

/** Says what the list lacks: further requests, runs that were not read, or runs that cannot be read. */
function Coverage({ list: { covered, requests, matching } }: { list: DecidedList }) {
  const parts = [
    ...(matching > requests.length ? [`The last ${requests.length} of ${matching}; the export has all.`] : []),
    ...(covered.more ? [`Only the newest ${covered.runs} runs were read.`] : []),
    ...(covered.unread > 0 ? [`${covered.unread} runs could not be read.`] : []),
  ];
  return parts.length === 0 ? null : <p class="note plain">{parts.join(' ')}</p>;
}

/** The beginning of the shown time, rounded down to an hour, so that the address stays the same for an hour. */
function sinceOf(days: number): string {
  return new Date(Math.floor(Date.now() / hourMs - days * 24) * hourMs).toISOString();
}
