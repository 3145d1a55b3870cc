import { shownPerson, visibleText } from 'countersign/base';
import type { InboxRow, WaitsFor } from '../../http/inbox/api.ts';
import { Foreign, Marked } from '../parts/shown-text.tsx';
import { TimeLeft, useNow } from '../parts/time.tsx';
import { requestHref } from '../state/location.ts';
import { ageText } from '../state/texts.ts';

interface RequestRowProps {
  row: InboxRow;
  isSelected: boolean;
  /** Absent: this person cannot answer. */
  toggle?: (row: InboxRow) => void;
}

const longest = 300;
/** A list leaves larger arguments out. */
const mostListedBytes = 32_000;

/** One open request. */
export function RequestRow({ row, isSelected, toggle }: RequestRowProps) {
  const now = useNow();
  const { toolName, agentName, callerUserId, severity, requestedAt, deadline, waitsFor, argumentBytes = 0 } = row;
  return (
    <li class={isSelected ? 'selected' : undefined}>
      {toggle !== undefined && (
        <label class="select">
          <input type="checkbox" checked={isSelected} onChange={() => toggle(row)} />
          <span class="visually-hidden">Select the request of {visibleText(toolName).slice(0, longest)}</span>
        </label>
      )}
      <a class="open" href={requestHref(row)}>
        <Marked text={row.sentence} />
      </a>
      <p class="facts">
        <span class={`severity ${severity}`}>{severity}</span>
        <TimeLeft requestedAt={requestedAt} deadline={deadline} />
        <span>
          asked <time dateTime={requestedAt}>{ageOf(requestedAt, now)}</time>
        </span>
        <span>
          tool <Foreign text={toolName} most={100} />
        </span>
        <span>
          agent <Foreign text={agentName} most={100} />
        </span>
        {callerUserId !== null && (
          <span>
            for <Foreign text={shownPerson(callerUserId, row.callerName)} most={100} />
          </span>
        )}
        <span class={`waits ${waitsFor}`}>{waitsWords[waitsFor]}</span>
        {row.cannotBeApproved !== undefined && <span class="cut">cannot be approved</span>}
        {row.undelivered === true && <span class="cut">no channel could deliver this request yet</span>}
        {argumentBytes > mostListedBytes && (
          <span class="cut">
            {Math.ceil(argumentBytes / 1_000).toLocaleString('en')} kB of arguments, not in this list
          </span>
        )}
      </p>
    </li>
  );
}

function ageOf(requestedAt: string, now: number): string {
  const age = ageText(requestedAt, now);
  return age === 'now' ? 'just now' : `${age} ago`;
}

/** For whom a request waits, as the inbox says it. */
export const waitsWords: Readonly<Record<WaitsFor, string>> = {
  you: 'waits for you',
  anyone: 'waits for anyone',
  others: 'waits for others',
  unknown: 'for whom: see the request',
};
