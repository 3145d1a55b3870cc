import { useEffect, useState } from 'preact/hooks';
import type { ShownRun } from '../../http/inbox/api.ts';
import type { StreamState } from '../api/event-stream.ts';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import { Foreign, TemporalLink } from '../parts/shown-text.tsx';
import { DecisionTable, JournalTable } from '../run/journal-table.tsx';
import { followRun } from '../run/follow-run.ts';
import { GrantList } from '../run/grant-list.tsx';
import { ReplyBox } from '../run/reply-box.tsx';
import { decisionsOf, emptyTimeline, lastTurnOf, type Timeline } from '../run/timeline.ts';
import { currentLocation } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore, announceText } from '../state/store.ts';
import type { ViewProps } from '../state/paths.ts';
import { askedArguments, TimelineItem } from '../parts/timeline-item.tsx';
import type { RecordedEvent } from 'countersign/client';
import { LocalTime } from '../parts/time.tsx';
import { ConfirmDialog } from '../parts/modal.tsx';

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

const atOnce = 200;

interface TimelineListProps {
  timeline: Timeline;
  state: StreamState | 'ended';
}

/** The events of a run, the newest at the end, and the text that the model is writing now. */
function TimelineList({ timeline, state }: TimelineListProps) {
  const [most, setMost] = useState(atOnce);
  const { events, dropped, writing } = timeline;
  const hidden = Math.max(0, events.length - most);
  const asked = askedArguments(events);
  return (
    <section aria-labelledby="timeline-title">
      <h2 id="timeline-title">
        What happens <StreamNote state={state} />
      </h2>
      {dropped > 0 && (
        <p class="soft">
          {dropped} older events are not kept on this page. The command <code>countersign show RUN --events</code> shows
          them.
        </p>
      )}
      {hidden > 0 && (
        <p>
          <button type="button" onClick={() => setMost(most + atOnce)}>
            Show {Math.min(hidden, atOnce)} earlier events
          </button>
        </p>
      )}
      {events.length === 0 && state !== 'lost' && <p class="soft">Nothing has happened yet.</p>}
      <ol class="run-events">
        {events.slice(hidden).map((event) => (
          <TimelineItem key={event.id} event={event} asked={asked} />
        ))}
      </ol>
      {writing !== undefined && (
        <div class="event writing" aria-busy="true">
          <p class="event-head">
            <b>The model is writing</b>
          </p>
          <div class="event-body">
            {writing.before > 0 && (
              <p class="soft">{writing.before.toLocaleString('en')} characters come before this.</p>
            )}
            <Foreign text={writing.text} lines most={100_000} />
          </div>
        </div>
      )}
    </section>
  );
}

function StreamNote({ state }: { state: StreamState | 'ended' }) {
  const notes = {
    connecting: ['Connecting …', 'soft'],
    live: ['Live', 'live'],
    lost: ['Not connected. What you see may be old; trying again …', 'problem'],
    ended: ['The run has ended', 'soft'],
  } as const;
  const [text, tone] = notes[state];
  return (
    <small class={tone} role="status">
      {text}
    </small>
  );
}

interface RunHeadProps {
  run: ShownRun;
  status: string;
  events: readonly RecordedEvent[];
}

/** The facts of a run: its agent and caller if its events name them, its times, and its place in Temporal. */
function RunHead({ run, status, events }: RunHeadProps) {
  const asked = events.find((event) => event.type === 'ApprovalRequestEvent');
  const agent = asked?.agentName ?? run.open[0]?.agentName;
  return (
    <div class="run-head">
      <span class={`run-status ${status}`}>{status}</span>
      {agent !== undefined && (
        <span>
          agent <Foreign text={agent} most={100} />
        </span>
      )}
      <span>
        started <LocalTime at={run.startedAt} />
      </span>
      {run.closedAt !== undefined && (
        <span>
          ended <LocalTime at={run.closedAt} />
        </span>
      )}
      <span>
        task queue <Foreign text={run.taskQueue} />
      </span>
      <TemporalLink workflowId={run.workflowId} />
    </div>
  );
}

/** Ends a run, in one of two ways. */
function RunActions({ workflowId, onDone }: { workflowId: string; onDone: () => void }) {
  const [ending, setEnding] = useState<'cancel' | 'close'>();
  const send = async (reason: string): Promise<void> => {
    if (ending === undefined) return;
    const path = ending === 'cancel' ? apiPath`/runs/${workflowId}/cancel` : apiPath`/runs/${workflowId}/close`;
    await sendJson('POST', path, reason === '' ? {} : { reason });
    announceText(ending === 'cancel' ? 'The run is being cancelled.' : 'The run is being closed.', 'good');
    onDone();
  };
  return (
    <>
      <button type="button" onClick={() => setEnding('close')}>
        Close the run
      </button>
      <button type="button" onClick={() => setEnding('cancel')}>
        Cancel the run
      </button>
      {ending !== undefined && (
        <ConfirmDialog
          key={ending}
          title={ending === 'cancel' ? 'Cancel this run?' : 'Close this run?'}
          act={ending === 'cancel' ? 'Cancel the run' : 'Close the run'}
          keep="Keep it running"
          askReason
          onClose={() => setEnding(undefined)}
          onConfirm={send}
        >
          <p>
            {ending === 'cancel'
              ? 'Its open requests are cancelled, and the tools that run are asked to stop.'
              : 'Its open requests are cancelled, and nothing more is called. Tools that run now may still end.'}{' '}
            This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
