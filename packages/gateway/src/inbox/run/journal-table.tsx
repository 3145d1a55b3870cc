import { useState } from 'preact/hooks';

import type { JournalEntry } from 'countersign/client';
import type { RunJournal } from '../../http/inbox/api.ts';
import { apiPath } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import { columnHeads, TableFrame } from '../parts/tables.tsx';
import { LocalTime } from '../parts/time.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { requestHref } from '../state/location.ts';
import { decisionText, reviewerText } from './decision-text.ts';
import type { Decided } from './timeline.ts';

/** The journal of a run in a section that is closed at first. Opening the section reads the journal. */
export function JournalTable({ workflowId, version }: { workflowId: string; version: number }) {
  const [isOpen, setOpen] = useState(false);
  const path = isOpen ? apiPath`/runs/${workflowId}/journal` : undefined;
  const { value, problem } = useJson<RunJournal>(path, version);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Everything that was recorded</summary>
      {problem !== undefined && <p class="problem">{problem.message}</p>}
      {isOpen && value === undefined && problem === undefined && <p class="soft">Loading …</p>}
      {value !== undefined && (
        <TableFrame label="Table of entries" head={columnHeads('#, Time, What, Tool, Details')}>
          {value.entries.map((entry) => (
            <tr key={entry.seq}>
              <td>{entry.seq}</td>
              <td>
                <LocalTime at={entry.at} />
              </td>
              <td>{entry.kind}</td>
              <td>
                <Foreign text={entry.toolName ?? ''} most={100} />
              </td>
              <td class="words">
                <Foreign text={detailsOf(entry)} most={300} />
              </td>
            </tr>
          ))}
        </TableFrame>
      )}
    </details>
  );
}

/** The members of an entry that have no column of their own, as one text. Absent and empty ones are left out. */
function detailsOf(entry: JournalEntry): string {
  const { outcome, approved, ran, rule, layer, reviewerId, to, code, grantId, deadline, reason } = entry;
  const parts = [
    outcome?.replaceAll('_', ' '),
    approved === undefined ? undefined : approved ? 'approves' : 'denies',
    ran === undefined ? undefined : `ran: ${ran}`,
    rule == null ? undefined : `rule ${rule} (${layer ?? ''})`,
    reviewerId === undefined ? undefined : `by ${reviewerText({ ...entry, reviewerId })}`,
    to === undefined ? undefined : `to ${to.join(', ')}`,
    grantId,
    code,
    deadline == null ? undefined : `until ${new Date(deadline).toLocaleString()}`,
    reason,
  ];
  return parts.filter((part) => part !== undefined && part !== '').join(' · ');
}

export function DecisionTable({ decisions }: { decisions: readonly Decided[] }) {
  return (
    <section aria-labelledby="decisions-title">
      <h2 id="decisions-title">Decisions</h2>
      {decisions.length === 0 ? (
        <p class="soft">No requests.</p>
      ) : (
        <TableFrame label="Table of decisions" head={columnHeads('Asked, Request, Decision, Decided, Ran')}>
          {decisions.map(({ request, result, ran }) => (
            <tr key={request.requestId}>
              <td>
                <LocalTime at={request.at} />
              </td>
              <td class="words">
                <a href={requestHref(request)}>
                  <Foreign text={request.sentence ?? request.toolName} most={200} />
                </a>
              </td>
              <td class="words">
                {result === undefined ? 'open' : <Foreign text={decisionText(result)} most={300} lines />}
              </td>
              <td>{result !== undefined && <LocalTime at={result.at} />}</td>
              <td>{ran ?? ''}</td>
            </tr>
          ))}
        </TableFrame>
      )}
    </section>
  );
}
