import { shownPerson, visibleText } from 'countersign/base';
import type { InboxRow, WaitsFor } from '../../http/inbox/api.ts';
import { Checkbox } from '../parts/controls.tsx';
import { Foreign, Marked } from '../parts/shown-text.tsx';
import { EscalationNote } from '../parts/escalation-note.tsx';
import { TimeLeft, useNow } from '../parts/time.tsx';
import { inListHref } from '../state/location.ts';
import { requestKey } from '../state/paths.ts';
import { ageText } from '../state/texts.ts';

interface RequestRowProps {
  row: InboxRow;
  isSelected: boolean;
  /** Selects the row. Absent: the user cannot answer. */
  toggle?: () => void;
  isInGroup?: boolean;
  isOpen?: boolean;
}

const longest = 300;
/** The gateway's list leaves out larger arguments. Then the row shows their size instead. */
const mostListedBytes = 32_000;

export function RequestRow({ row, isSelected, toggle, isInGroup = false, isOpen = false }: RequestRowProps) {
  const now = useNow();
  const { toolName, agentName, callerUserId, severity, requestedAt, deadline, waitsFor, argumentBytes = 0 } = row;
  return (
    <li class={`${isSelected ? 'selected' : ''} ${isInGroup ? 'in-group' : ''}`} data-request={requestKey(row)}>
      {toggle !== undefined && (
        <Checkbox class="select" checked={isSelected} change={toggle}>
          <span class="visually-hidden">Select the request of {visibleText(toolName).slice(0, longest)}</span>
        </Checkbox>
      )}
      <a class="open" href={inListHref(row)} aria-current={isOpen ? 'true' : undefined}>
        <Marked text={row.sentence} />
      </a>
      <p class="facts">
        <SeverityMark severity={severity} />
        <TimeLeft requestedAt={requestedAt} deadline={deadline} />
        <span>
          asked <time dateTime={requestedAt}>{ageOf(requestedAt, now)}</time>
        </span>
        <span>
          agent <Foreign text={agentName} most={100} />
        </span>
        {callerUserId !== null && (
          <span>
            requested by <Foreign text={shownPerson(callerUserId, row.callerName)} most={100} />
          </span>
        )}
        <span class={`waits ${waitsFor}`}>{waitsWords[waitsFor]}</span>
        {row.escalated !== undefined && (
          <span class="escalated">
            <EscalationNote {...row} />
          </span>
        )}
        {row.cannotBeApproved !== undefined && <span class="cut">cannot be approved</span>}
        {row.undelivered === true && <span class="cut">no channel could deliver this request yet</span>}
        {argumentBytes > mostListedBytes && (
          <span class="cut">({Math.ceil(argumentBytes / 1_000).toLocaleString('en')} kB of arguments)</span>
        )}
      </p>
    </li>
  );
}

/** Shows a severity unless it is the usual one, `medium`. */
export function SeverityMark({ severity }: { severity: string }) {
  return severity === 'medium' ? null : <span class={`severity ${severity}`}>{severity}</span>;
}

function ageOf(requestedAt: string, now: number): string {
  const age = ageText(requestedAt, now);
  return age === 'now' ? 'just now' : `${age} ago`;
}

export const waitsWords: Readonly<Record<WaitsFor, string>> = {
  you: 'waits for you',
  anyone: 'anyone can answer',
  others: 'waits for others',
  unknown: 'open it to see who can answer',
};
