import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunList } from '../../http/inbox/api.ts';
import { useJson } from '../api/use-json.ts';
import { FirstSteps } from '../parts/first-steps.tsx';
import { Button, Checkbox, ProblemText, SelectField, TextField } from '../parts/controls.tsx';
import { LocalTime } from '../parts/time.tsx';
import { Foreign, Named } from '../parts/shown-text.tsx';
import { RunName } from '../run/run-name.tsx';
import { listPath, readRunFilters, type RunFilters, statuses, writeRunFilters } from '../run/run-fields.ts';
import { currentLocation, hrefOf, navigate, runHref } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';

/** The pause between two reads of the list. It comes from Temporal's visibility, which lags by some seconds anyway. */
const againMs = 10_000;
const [firstRuns, mostRuns] = [100, 500];

export function RunsView() {
  const { query } = useStore(currentLocation);
  const me = meOf(useStore(session));
  const filters = readRunFilters(query);
  // The query for which the user has asked for more runs. Another query shows the first runs again.
  const [wide, setWide] = useState<string>();
  const limit = wide === query ? mostRuns : firstRuns;
  const { value, problem, isLoading, reload } = useJson<RunList>(listPath(filters, limit));
  // While the page reads more runs, it still shows the last list of the same query.
  const latest = useRef<{ query: string; list: RunList }>(undefined);
  if (value !== undefined) latest.current = { query, list: value };
  const shown = latest.current?.query === query ? latest.current.list : undefined;
  const rows = useRef<HTMLUListElement>(null);
  // The index of the first row that `Show up to` adds. This row gets the focus.
  const focusAt = useRef<number>(undefined);
  useEffect(() => {
    const at = focusAt.current;
    if (at === undefined || limit === firstRuns || value === undefined) return;
    focusAt.current = undefined;
    rows.current?.querySelectorAll<HTMLElement>('.row-link')[at]?.focus();
  }, [value]);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), againMs);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <>
      <div class="view-head">
        <h1>Runs</h1>
        {me?.roles.includes('starter') === true && (
          <a class="button primary" href={hrefOf('/start')}>
            Start a run
          </a>
        )}
      </div>
      <RunFilterForm filters={filters} />
      {problem !== undefined && <ProblemText>{problem.message}</ProblemText>}
      {shown === undefined && isLoading && <p class="soft">Loading …</p>}
      {shown?.runs.length === 0 && query === '' && <FirstSteps />}
      {shown?.runs.length === 0 && query !== '' && (
        <p class="note empty">
          No run matches. <a href={hrefOf('/runs')}>Show all runs</a>
        </p>
      )}
      <ul class="rows" ref={rows}>
        {shown?.runs.map((run) => (
          <RunRow key={run.workflowId} run={run} />
        ))}
      </ul>
      {shown?.more === true && (
        <>
          <p class="soft">There are more runs than these {shown.runs.length}. Search or filter to find others.</p>
          {shown.runs.length === firstRuns && (
            <p class="buttons">
              <Button
                aria-disabled={wide === query && isLoading}
                onClick={() => {
                  focusAt.current = shown.runs.length;
                  setWide(query);
                }}
              >
                Show up to {mostRuns}
              </Button>
            </p>
          )}
        </>
      )}
    </>
  );
}

function RunRow({ run }: { run: RunList['runs'][number] }) {
  const { workflowId, status, callerUserId, open, startedAt, closedAt } = run;
  return (
    <li>
      <div>
        <a class="row-link" href={runHref(workflowId)}>
          <RunName run={run} />
        </a>
        <p class="soft">
          <Named before="for " text={callerUserId} most={80} after=" · " />
          started <LocalTime at={startedAt} />
          {closedAt !== undefined && <LocalTime before=" · ended " at={closedAt} />} ·{' '}
          <Foreign text={workflowId} most={60} />
        </p>
      </div>
      <span class={`run-status ${status}`}>
        {status}
        {open > 0 && ` · ${open} open`}
      </span>
    </li>
  );
}

const search = { type: 'search', maxLength: 200, autocapitalize: 'off' } as const;

function RunFilterForm({ filters }: { filters: RunFilters }) {
  const [agent, setAgent] = useState(filters.agent);
  const [text, setText] = useState(filters.text);
  useEffect(() => setAgent(filters.agent), [filters.agent]);
  useEffect(() => setText(filters.text), [filters.text]);
  const show = (change: Partial<RunFilters>): void => {
    // `filters` may be outdated, because two changes may come before the form is drawn again.
    const before = readRunFilters(currentLocation.get().query);
    navigate(hrefOf(`/runs${writeRunFilters({ ...before, ...change })}`), { replace: true });
  };
  return (
    <form class="filters plain" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <TextField
        label="Search"
        {...search}
        value={text}
        change={setText}
        // The browser sends this event at Enter, and when the field loses the focus.
        onChange={() => show({ text: text.trim() })}
      />
      <SelectField
        label="Status"
        value={filters.status}
        choices={[['', 'all'], ...statuses.map((status) => [status, status] as const)]}
        choose={(status) => show({ status: status as RunFilters['status'] })}
      />
      <TextField
        label="Agent"
        {...search}
        value={agent}
        change={setAgent}
        onChange={() => show({ agent: agent.trim() })}
      />
      <Checkbox checked={filters.mine} change={(mine) => show({ mine })}>
        Mine
      </Checkbox>
    </form>
  );
}
