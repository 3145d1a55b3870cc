import { useEffect, useState } from 'preact/hooks';
import type { ShownRun } from '../../http/inbox/api.ts';
import type { StreamState } from '../api/event-stream.ts';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import { Foreign, Marked, TemporalLink } from '../parts/shown-text.tsx';
import { DecisionTable, JournalTable } from '../run/journal-table.tsx';
import { agentSpeaker, Conversation, Message, type Speaker, userSpeaker } from '../run/conversation-list.tsx';
import { followRun } from '../run/follow-run.ts';
import { readCallingAgent } from '../request/run-context.tsx';
import { GrantList } from '../run/grant-list.tsx';
import { ReplyBox } from '../run/reply-box.tsx';
import { decisionsOf, emptyTimeline, lastTurnOf, type Timeline } from '../run/timeline.ts';
import { stopWords } from '../run/stop-agent.tsx';
import { RunName, runName } from '../run/run-name.tsx';
import { currentLocation, hrefOf, requestHref } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore, announceText, viewTitle } from '../state/store.ts';
import { openRequests } from '../state/open-requests.ts';
import { requestKey, type ViewProps } from '../state/paths.ts';
import { LocalTime } from '../parts/time.tsx';
import { ConfirmDialog } from '../parts/modal.tsx';
import { Button, ProblemText } from '../parts/controls.tsx';

export function RunPage({ params }: ViewProps) {
  const workflowId = params['workflowId'] ?? '';
  const me = meOf(useStore(session));
  const { path } = useStore(currentLocation);
  const [timeline, setTimeline] = useState<Timeline>(emptyTimeline);
  const [state, setState] = useState<StreamState | 'ended'>('connecting');
  const decisions = decisionsOf(timeline.events);
  // The page reads the run again after each request and decision, and at the end of the run.
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
  useEffect(() => {
    viewTitle.set(run === undefined ? undefined : runName(run));
    return () => viewTitle.set(undefined);
  }, [run?.workflowId, run?.task]);
  return (
    <article class="run-view">
      <p class="crumbs">
        <a href={hrefOf('/runs')}>← Runs</a>
      </p>
      <h1 class="run-title">{run === undefined ? <Foreign text={workflowId} most={200} /> : <RunName run={run} />}</h1>
      {shown.problem !== undefined && <ProblemText>{shown.problem.message}</ProblemText>}
      {run !== undefined && <RunHead run={run} status={status ?? run.status} />}
      <NestedWaits workflowId={workflowId} />
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
      <TimelineList timeline={timeline} state={state} run={run} />
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
  run: ShownRun | undefined;
}

function TimelineList({ timeline, state, run }: TimelineListProps) {
  const [most, setMost] = useState(atOnce);
  const caller = useCaller(run);
  const { events, dropped, writing } = timeline;
  return (
    <section aria-labelledby="timeline-title">
      <h2 id="timeline-title">
        Timeline · <StreamNote state={state} endedAt={timeline.end?.at} />
      </h2>
      {dropped > 0 && (
        <p class="soft">
          {dropped} older events are not kept on this page. The command <code>countersign show RUN --events</code> shows
          them.
        </p>
      )}
      {events.length === 0 && state !== 'lost' && <p class="soft">Nothing has happened yet.</p>}
      <Conversation
        events={events}
        caller={caller}
        agent={run?.agent}
        most={most}
        showMore={() => setMost(most + atOnce)}
        writing={
          writing !== undefined && (
            <Message tone="agent" by={{ name: 'The model is writing' }}>
              {writing.before > 0 && (
                <p class="soft">{writing.before.toLocaleString('en')} characters come before this.</p>
              )}
              <Foreign text={writing.text} lines most={100_000} />
            </Message>
          )
        }
      />
    </section>
  );
}

/** Who writes to the agent of a run: the user, or for a nested run, the agent that called it. */
function useCaller(run: ShownRun | undefined): Speaker {
  const { workflowId, callerUserId, lineage = [] } = run ?? {};
  const [agent, setAgent] = useState<string>();
  const parent = lineage.at(-1);
  useEffect(() => {
    setAgent(undefined);
    if (parent === undefined || workflowId === undefined) return undefined;
    let isOver = false;
    readCallingAgent(parent, workflowId).then(
      (named) => !isOver && setAgent(named),
      // If this fails, the conversation shows no name.
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [parent, workflowId]);
  return parent === undefined ? userSpeaker(callerUserId) : agentSpeaker(agent);
}

function StreamNote({ state, endedAt }: { state: StreamState | 'ended'; endedAt: string | undefined }) {
  const notes = {
    connecting: ['Connecting …', 'soft'],
    live: ['Live', 'live'],
    lost: ['Not connected. What you see may be old; trying again …', 'problem'],
    ended: ['ended', 'soft'],
  } as const;
  const [text, tone] = notes[state];
  return (
    <small class={tone} role="status">
      {text}
      {state === 'ended' && endedAt !== undefined && <LocalTime before=" " at={endedAt} />}
    </small>
  );
}

function RunHead({ run, status }: { run: ShownRun; status: string }) {
  return (
    <div class="run-head">
      <span class={`run-status ${status}`}>{status}</span>
      {run.callerUserId !== undefined && (
        <span>
          for <Foreign text={run.callerUserId} most={100} />
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
      <span>
        <Foreign text={run.workflowId} most={200} />
      </span>
      <TemporalLink workflowId={run.workflowId} />
    </div>
  );
}

const mostWaits = 5;

/** Lists the open requests of all runs nested in this run, at any depth. */
function NestedWaits({ workflowId }: { workflowId: string }) {
  const { open } = useStore(openRequests);
  const waits = open?.rows.filter(({ lineage }) => lineage?.includes(workflowId)) ?? [];
  if (waits.length === 0) return null;
  return (
    <ul class="note nested-waits" aria-label="Nested runs that wait">
      {waits.slice(0, mostWaits).map((row) => (
        <li key={requestKey(row)}>
          <a href={requestHref(row)}>
            Waiting for approval in <Foreign text={row.agentName} most={100} /> ›
          </a>{' '}
          <Marked text={row.sentence} />
        </li>
      ))}
      {waits.length > mostWaits && <li>and {waits.length - mostWaits} more</li>}
    </ul>
  );
}

function RunActions({ workflowId, onDone }: { workflowId: string; onDone: () => void }) {
  const [ending, setEnding] = useState<'cancel' | 'close'>();
  const send = async (reason: string): Promise<void> => {
    if (ending === undefined) return;
    const path = ending === 'cancel' ? apiPath`/runs/${workflowId}/cancel` : apiPath`/runs/${workflowId}/close`;
    await sendJson('POST', path, reason === '' ? {} : { reason });
    announceText('The run is asked to stop.', 'good');
    onDone();
  };
  return (
    <>
      <Button onClick={() => setEnding('close')}>{stopWords.close} …</Button>
      <Button onClick={() => setEnding('cancel')}>{stopWords.cancel} …</Button>
      {ending !== undefined && (
        <ConfirmDialog
          key={ending}
          title={ending === 'cancel' ? 'Stop this run now?' : 'Stop this run after the running tool?'}
          act={stopWords[ending]}
          keep="Keep it running"
          askReason
          onClose={() => setEnding(undefined)}
          onConfirm={send}
        >
          <p>
            {ending === 'cancel'
              ? 'Its open requests are cancelled, and running tools are interrupted.'
              : 'Its open requests are cancelled. Running tools finish first.'}{' '}
            This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
