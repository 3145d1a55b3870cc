import { personsShown, visibleText } from 'countersign/base';
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
        <RowSentence row={row} most={longest} />
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
            for <Foreign text={personsShown(row.people)(callerUserId)} most={100} />
          </span>
        )}
        <span class={`waits ${waitsFor}`}>{waitsWords[waitsFor]}</span>
        {row.cannotBeApproved === true && <span class="cut">cannot be approved</span>}
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

/** The sentence of a request's card; before a worker has answered, what the list knows of the call. */
export function RowSentence({ row, most }: { row: InboxRow; most: number }) {
  const { sentence, toolName, shownArguments = {}, argumentNames } = row;
  // The gateway has made the sentence visible and bounded it.
  if (sentence !== undefined) return <Marked text={sentence} />;
  const known = Object.entries(shownArguments).map(([name, value]) => `${name}: ${value}`);
  const rest = known.length > 0 ? known : argumentNames;
  return <Foreign text={rest.length === 0 ? toolName : `${toolName} (${rest.join(', ')})`} most={most} />;
}

/** For whom a request waits, as the inbox says it. */
export const waitsWords: Readonly<Record<WaitsFor, string>> = {
  you: 'waits for you',
  anyone: 'waits for anyone',
  others: 'waits for others',
  unknown: 'no worker has answered yet',
};
