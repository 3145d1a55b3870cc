import { useState } from 'preact/hooks';
import { severities, visibleText } from 'countersign/base';
import type { OpenView, Tab } from '../../http/inbox/api.ts';
import { type OpenQuery, type Sort, sorts, tabs } from '../../http/inbox/open-view.ts';
import { Button, SelectField } from '../parts/controls.tsx';
import { Icon } from '../parts/shown-text.tsx';
import { currentLocation, hrefOf, navigate } from '../state/location.ts';
import { isFiltered, readQuery, writeQuery } from './filters.ts';

const tabWords: Readonly<Record<Tab, string>> = { mine: 'Mine', anyone: 'Anyone', others: 'Others' };
const tabTitles: Readonly<Record<Tab, string>> = {
  mine: 'Requests that wait for you',
  anyone: 'Requests that anyone can answer',
  others: 'Requests that wait for other people',
};

interface TabsProps {
  query: OpenQuery;
  view: Pick<OpenView, 'tab' | 'counts'> | undefined;
  isDecided?: boolean;
}

/** The tabs of open requests, and the tab of decided requests. Their links keep the filters. */
export function Tabs({ query, view, isDecided = false }: TabsProps) {
  return (
    <nav class="tabs" aria-label="Requests">
      {tabs.map((tab) => (
        <a
          key={tab}
          href={hrefOf(`/${writeQuery({ ...query, tab })}`)}
          aria-current={!isDecided && view?.tab === tab ? 'page' : undefined}
          title={tabTitles[tab]}
        >
          {tabWords[tab]} {view !== undefined && <span class="count">{view.counts[tab].toLocaleString('en')}</span>}
        </a>
      ))}
      <a href={hrefOf('/decided')} aria-current={isDecided ? 'page' : undefined}>
        Decided
      </a>
    </nav>
  );
}

const sortWords: Readonly<Record<Sort, string>> = { urgency: 'Urgency', severity: 'Severity', age: 'Age' };

interface FilterBarProps {
  query: OpenQuery;
  tools: readonly string[];
  agents: readonly string[];
}

/** The filters of the list, which are kept in the address. On a phone, a button shows them. */
export function FilterBar({ query, tools, agents }: FilterBarProps) {
  const [isUnfolded, setUnfolded] = useState(false);
  const count = [query.severity, query.tool, query.agent].filter((each) => each !== '').length;
  const change = (changed: Partial<OpenQuery>): void => {
    // `query` may be outdated, because two changes may come before the bar is drawn again.
    const next = { ...readQuery(currentLocation.get().query), ...changed };
    navigate(listPath(next), { replace: true });
  };
  const select = (name: 'tool' | 'agent' | 'severity', label: string, values: readonly string[]) => (
    <SelectField
      label={label}
      value={query[name]}
      choices={[
        ['', 'all'],
        ...[...new Set([...(query[name] === '' ? [] : [query[name]]), ...values])].map(nameChoice),
      ]}
      choose={(value) => change({ [name]: value })}
    />
  );
  return (
    <form class="filters" role="search" aria-label="Filter the requests" onSubmit={(event) => event.preventDefault()}>
      <label class="search">
        <span class="visually-hidden">Search</span>
        <input
          type="search"
          placeholder="Search"
          autocapitalize="off"
          value={query.text}
          maxLength={200}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
      </label>
      <Button
        class="fold"
        aria-expanded={isUnfolded}
        aria-controls="filter-fields"
        onClick={() => setUnfolded(!isUnfolded)}
      >
        <Icon name="filter" /> Filters
        {count > 0 && (
          <span class="number">
            {count}
            <span class="visually-hidden"> on</span>
          </span>
        )}
      </Button>
      <div id="filter-fields" class={isUnfolded ? 'filter-fields unfolded' : 'filter-fields'}>
        {select('severity', 'Severity', severities.toReversed())}
        {select('tool', 'Tool', tools)}
        {select('agent', 'Agent', agents)}
        <SelectField
          label="Sort by"
          value={query.sort}
          choices={sorts.map((sort) => [sort, sortWords[sort]])}
          choose={(sort) => change({ sort: sort as Sort })}
        />
        {isFiltered(query) && <Button onClick={clearFilters}>Clear</Button>}
      </div>
    </form>
  );
}

export function nameChoice(name: string): readonly [string, string] {
  return [name, visibleText(name).slice(0, 80)];
}

function listPath(query: OpenQuery): string {
  return hrefOf(`${currentLocation.get().path}${writeQuery(query)}`);
}

export function clearFilters(): void {
  const { tab, sort } = readQuery(currentLocation.get().query);
  const all = { ...(tab !== undefined && { tab }), tool: '', agent: '', severity: '', text: '', sort };
  navigate(listPath(all), { replace: true });
}

interface SelectionBarProps {
  count: number;
  answer: (answer: 'approve' | 'deny' | 'stop') => void;
  clear: () => void;
}

export function SelectionBar({ count, answer, clear }: SelectionBarProps) {
  return (
    <div class="selection-bar" role="region" aria-label="Selected requests">
      <span role="status">{count} selected</span>
      <Button class="quiet" onClick={clear}>
        Clear
      </Button>
      <Button class="primary" onClick={() => answer('deny')}>
        Deny …
      </Button>
      <Button onClick={() => answer('approve')}>Approve …</Button>
      <Button onClick={() => answer('stop')}>Stop …</Button>
    </div>
  );
}
