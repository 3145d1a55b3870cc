import { useEffect, useState } from 'preact/hooks';
import type { ShownRun } from '../../http/inbox/api.ts';
import type { StreamState } from '../api/event-stream.ts';
import { apiPath } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import { Foreign } from '../parts/shown-text.tsx';
import { DecisionTable, JournalTable } from '../run/journal-table.tsx';
import { followRun } from '../run/follow-run.ts';
import { GrantList } from '../run/grant-list.tsx';
import { ReplyBox } from '../run/reply-box.tsx';
import { RunHead, RunActions } from '../run/run-head.tsx';
import { decisionsOf, emptyTimeline, lastTurnOf, type Timeline } from '../run/timeline.ts';
import { TimelineList } from '../run/timeline-list.tsx';
import { currentLocation } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import type { ViewProps } from '../state/paths.ts';

/** One run, live: its events, its decisions, and the actions on it. */
export function RunPage({ params }: ViewProps) {
  const workflowId = params['workflowId'] ?? '';
  const me = meOf(useStore(session));
  const { path } = useStore(currentLocation);
  const [timeline, setTimeline] = useState<Timeline>(emptyTimeline);
  const [state, setState] = useState<StreamState | 'ended'>('connecting');
  const decisions = decisionsOf(timeline.events);
  // The gateway's data of the run changes with decisions and with its end.
  const version = decisions.length + decisions.filter(({ result }) => result !== undefined).length;
  const shown = useJson<ShownRun>(
    apiPath`/runs/${workflowId}`,
    `${version} ${timeline.end === undefined ? 'open' : 'ended'}`,
  );
  useEffect(() => followRun(workflowId, setTimeline, setState), [workflowId, path]);
  const may = (...roles: readonly string[]): boolean => me?.roles.some((role) => roles.includes(role)) ?? false;
  const run = shown.value;
  const status = timeline.end?.status ?? run?.status;
  const isOpen = status === 'running' || status === 'waiting';
  return (
    <article class="run-view">
      <h1 class="run-title">
        <Foreign text={workflowId} most={200} />
      </h1>
      {shown.problem !== undefined && (
        <p class="problem" role="alert">
          {shown.problem.message}
        </p>
      )}
      {run !== undefined && <RunHead run={run} status={status ?? run.status} events={timeline.events} />}
      {run?.note !== undefined && (
        <p class="note">
          <Foreign text={run.note} />
        </p>
      )}
      {isOpen && may('starter', 'operator') && (
        <div class="buttons">
          <RunActions workflowId={workflowId} onDone={shown.reload} />
        </div>
      )}
      <TimelineList timeline={timeline} state={state} />
      {isOpen && run?.takesMessages === true && (
        <ReplyBox workflowId={workflowId} lastTurn={lastTurnOf(timeline.events)} />
      )}
      <DecisionTable decisions={decisions} />
      <GrantList workflowId={workflowId} version={version} mayRevoke={isOpen && may('reviewer', 'operator')} />
      <JournalTable workflowId={workflowId} version={version} />
    </article>
  );
}
