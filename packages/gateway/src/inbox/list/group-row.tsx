import { severities, visibleText } from 'countersign/base';
import type { InboxRow } from '../../http/inbox/api.ts';
import { inboxOrder } from '../../http/inbox/open-view.ts';
import { Foreign } from '../parts/shown-text.tsx';
import { TimeLeft } from '../parts/time.tsx';
import type { RowGroup } from './filters.ts';
import { SeverityMark } from './request-row.tsx';
import { Button, Checkbox } from '../parts/controls.tsx';

interface GroupProps {
  group: RowGroup;
  isUnfolded: boolean;
  unfold: () => void;
  isSelected: boolean;
  /** Selects all rows of the group. If the user cannot answer, this and `answer` are absent. */
  toggle?: () => void;
  answer?: (answer: 'approve' | 'deny') => void;
}

export function GroupRow({ group: { workflowId, rows }, isUnfolded, unfold, isSelected, toggle, answer }: GroupProps) {
  const [mostUrgent] = rows.toSorted(inboxOrder);
  const tools = new Set(rows.map(({ toolName }) => toolName));
  const what = tools.size === 1 ? visibleText(rows[0]!.toolName).slice(0, 100) : `Calls of ${tools.size} tools`;
  const { requestedAt, deadline, agentName } = mostUrgent!;
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
