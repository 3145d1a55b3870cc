import { useState } from 'preact/hooks';
import { visibleText } from 'countersign/base';
import type { InboxRow } from '../../http/inbox/api.ts';
import { Icon } from '../parts/shown-text.tsx';
import { currentLocation, hrefOf, navigate } from '../state/location.ts';
import { type Filters, noFilters, readFilters, valuesOf, writeFilters } from './filters.ts';

/** The filters of the list. They are in the address, so that a link shows the same list. A phone shows them on demand. */
export function FilterBar({ filters, rows }: { filters: Filters; rows: readonly InboxRow[] }) {
  const [isUnfolded, setUnfolded] = useState(false);
  const count = [filters.waits, filters.severity, filters.tool, filters.agent].filter((each) => each !== '').length;
  const change = (changed: Partial<Filters>): void => {
    // Two changes may come before the bar is drawn again.
    const next = { ...readFilters(currentLocation.get().query), ...changed };
    navigate(hrefOf(`/${writeFilters(next)}`), { replace: true });
  };
  const select = (name: 'tool' | 'agent' | 'severity', label: string, values: readonly string[]) => (
    <label>
      {label}
      <select value={filters[name]} onChange={(event) => change({ [name]: event.currentTarget.value })}>
        <option value="">all</option>
        {[...new Set([...(filters[name] === '' ? [] : [filters[name]]), ...values])].map((value) => (
          <option key={value} value={value}>
            {visibleText(value).slice(0, 80)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="filters" role="search" aria-label="Filter the requests" onSubmit={(event) => event.preventDefault()}>
      <label class="search">
        <span class="visually-hidden">Search</span>
        <input
          type="search"
          placeholder="Search"
          autocapitalize="off"
          value={filters.text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
      </label>
      <button
        type="button"
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
      </button>
      <div id="filter-fields" class={isUnfolded ? 'filter-fields unfolded' : 'filter-fields'}>
        <label>
          Waits for
          <select
            value={filters.waits}
            onChange={(event) => change({ waits: event.currentTarget.value as Filters['waits'] })}
          >
            <option value="">all</option>
            <option value="me">me or anyone</option>
            <option value="others">others</option>
          </select>
        </label>
        {select('severity', 'Severity', valuesOf(rows, 'severity'))}
        {select('tool', 'Tool', valuesOf(rows, 'toolName'))}
        {select('agent', 'Agent', valuesOf(rows, 'agentName'))}
        {writeFilters(filters) !== '' && (
          <button type="button" onClick={() => change(noFilters)}>
            Clear
          </button>
        )}
      </div>
    </form>
  );
}

interface SelectionBarProps {
  count: number;
  answer: (answer: 'approve' | 'deny') => void;
  clear: () => void;
}

/** What can be done with the selected requests. */
export function SelectionBar({ count, answer, clear }: SelectionBarProps) {
  return (
    <div class="selection-bar" role="region" aria-label="Selected requests">
      <span role="status">{count} selected</span>
      <button type="button" class="primary" onClick={() => answer('deny')}>
        Deny …
      </button>
      <button type="button" onClick={() => answer('approve')}>
        Approve …
      </button>
      <button type="button" onClick={clear}>
        Clear
      </button>
    </div>
  );
}
