import { useEffect, useRef, useState } from 'preact/hooks';
import { personsShown } from 'countersign/base';
import type { ApprovalDetails, RecordedEvent } from 'countersign/client';
import { problemText } from '../state/texts.ts';
import { FailureNote, Foreign, TemporalLink } from '../parts/shown-text.tsx';
import { agentSpeaker, Conversation, type Speaker, userSpeaker } from '../run/conversation-list.tsx';
import { runHref } from '../state/location.ts';
import { callingAgent, pastOf, type RunPast } from './run-past.ts';
import type { RunEvents, ShownRun } from '../../http/inbox/api.ts';
import { apiPath, getJson } from '../api/fetch-json.ts';

/** The pause between two reads. A stream for each request would use up the connections of the browser. */
const againMs = 5_000;

/** What a request's run, and the runs that called it, say about the request in their events. */
export interface RunReading {
  read?: EventsSoFar;
  problem: string;
  isRead: boolean;
  /** The last message of the user of the root run. */
  asked?: Asked;
  /** The message on which the run works, written by the user or by the agent that called the run. */
  task?: string;
  /** The agent that called a nested run. Absent: the run is not nested, or the agent is not known. */
  callingAgent?: string;
  past?: RunPast;
  /** True: `read` does not have all events of the run. */
  isPart: boolean;
}

type Asked = NonNullable<RunPast['asked']>;

/** Reads the events of a request's run until the run ends. Reads the events of the calling runs only once. */
export function useRunReading(request: ApprovalDetails | undefined): RunReading {
  const { workflowId, lineage = [], settled, requestId, requestedAt } = request ?? {};
  const { read, problem } = useRunEvents(workflowId, settled?.settledAt);
  const [root, parent] = [lineage[0], lineage.at(-1)];
  const above = useCallingRuns(root, parent, workflowId, requestedAt);
  const past = read === undefined || requestId === undefined ? undefined : pastOf(read.events, requestId);
  const asked = root === undefined ? past?.asked : above.asked;
  const isRead = problem !== '' || (read !== undefined && (root === undefined || above.isRead === true));
  const isPart = read !== undefined && (read.earlier > 0 || read.isCut);
  return { read, problem, isRead, asked, task: past?.asked?.text, callingAgent: above.agent, past, isPart };
}

/** Reads the events of a run again and again until the run ends. `settledAt`: a settlement makes it read at once. */
function useRunEvents(workflowId: string | undefined, settledAt: string | undefined) {
  const [read, setRead] = useState<EventsSoFar>();
  const [problem, setProblem] = useState('');
  const latest = useRef<{ workflowId: string; soFar: EventsSoFar }>(undefined);
  useEffect(() => {
    if (workflowId === undefined) return undefined;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      const before = latest.current?.workflowId === workflowId ? latest.current.soFar : undefined;
      try {
        if (document.visibilityState === 'visible')
          latest.current = { workflowId, soFar: await readRunEvents(workflowId, before) };
        if (!isOver) setRead(latest.current?.soFar);
        setProblem('');
      } catch (error) {
        setProblem(problemText(error));
      }
      const hasEnded = latest.current?.soFar.events.at(-1)?.type === 'RunCompleteEvent';
      if (!isOver && !hasEnded) timer = setTimeout(() => void follow(), againMs);
    };
    void follow();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [workflowId, settledAt]);
  return { read, problem };
}

/** Reads once what the user of the root run asked before `until`, and which agent of the parent called the run. */
function useCallingRuns(root?: string, parent?: string, workflowId?: string, until?: string) {
  const [above, setAbove] = useState<{ asked?: Asked; agent?: string; isRead?: true }>({});
  useEffect(() => {
    if (root === undefined || parent === undefined || workflowId === undefined) return undefined;
    let isOver = false;
    const readAbove = async (): Promise<void> => {
      const read = await readRunEvents(root);
      const untilMs = Date.parse(until ?? '');
      // The negation keeps all events if `untilMs` is NaN, because the request has no time.
      const before = read.events.filter(({ at }) => !(Date.parse(at) > untilMs));
      const { asked } = pastOf(before, '');
      const readOfParent = parent === root ? read : undefined;
      const agent = await readCallingAgent(parent, workflowId, readOfParent).catch(() => undefined);
      if (!isOver) setAbove({ isRead: true, asked, agent });
    };
    // The request can be answered without the events of the calling runs.
    readAbove().catch(() => !isOver && setAbove({ isRead: true }));
    return () => {
      isOver = true;
    };
  }, [root, parent, workflowId]);
  return above;
}

/** The run of a request below the card: links to the run and to those that called it, and the conversation so far. */
export function RunContext({ request, reading }: { request: ApprovalDetails; reading: RunReading }) {
  const { workflowId, lineage, callerUserId, people } = request;
  const { read, problem, callingAgent } = reading;
  const name = callerUserId === null ? undefined : personsShown(people)(callerUserId);
  const caller = lineage.length > 0 ? agentSpeaker(callingAgent) : userSpeaker(name);
  return (
    <section class="run" aria-labelledby="run-title">
      <h2 id="run-title">The run</h2>
      <p class="lineage">
        {[...lineage, workflowId].map((id, index) => (
          <span key={id}>
            {index > 0 && ' › '}
            <a href={runHref(id)}>
              <Foreign text={id} most={200} />
            </a>
          </span>
        ))}
      </p>
      <TemporalLink workflowId={workflowId} />
      <details open>
        <summary>The conversation and what happened so far</summary>
        <FailureNote words="It cannot be read: " message={problem === '' ? undefined : problem} />
        {read === undefined && problem === '' && <p class="soft">Loading …</p>}
        {read !== undefined && <Events {...read} caller={caller} />}
      </details>
    </section>
  );
}

function Events({ events, earlier, isCut, caller }: EventsSoFar & { caller: Speaker }) {
  return (
    <>
      {isCut && <p class="note">This run has more events than are read here: these are not the newest.</p>}
      {earlier > 0 && (
        <p class="soft">
          The newest {events.length} events. The page of the run has the {earlier.toLocaleString('en')} earlier ones.
        </p>
      )}
      {events.length === 0 && <p class="soft">Nothing has happened yet.</p>}
      <Conversation events={events} caller={caller} />
    </>
  );
}

export interface EventsSoFar {
  events: readonly RecordedEvent[];
  earlier: number;
  /** True: the run has so many events that reading stopped, so `events` does not have the newest. */
  isCut: boolean;
}

const [mostKept, mostPages] = [500, 20];

/** Reads all events of a run, or only those after `before`. Of all events, it keeps the newest `mostKept`. */
export async function readRunEvents(workflowId: string, before?: EventsSoFar): Promise<EventsSoFar> {
  let events: readonly RecordedEvent[] = before?.events ?? [];
  let earlier = before?.earlier ?? 0;
  let after = events.at(-1)?.id ?? '';
  for (let page = 0; page < mostPages; page += 1) {
    const place = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
    const read = await getJson<RunEvents>(`${apiPath`/runs/${workflowId}/events`}?follow=false${place}`);
    const all = [...events, ...read.events];
    events = all.slice(-mostKept);
    earlier += all.length - events.length;
    if (read.next === undefined) return { events, earlier, isCut: false };
    after = read.next;
  }
  return { events, earlier, isCut: true };
}

/** The agent that called a nested run; undefined if the events of the run `parent` do not say. `read`: these events. */
export async function readCallingAgent(
  parent: string,
  nestedWorkflowId: string,
  read?: EventsSoFar,
): Promise<string | undefined> {
  const { events, earlier } = read ?? (await readRunEvents(parent));
  const named = callingAgent(events, nestedWorkflowId);
  // If all events are known and none names the agent, the calling agent is the one with which the run began.
  if (named !== undefined || earlier > 0) return named;
  const { agent } = await getJson<ShownRun>(apiPath`/runs/${parent}`);
  return callingAgent(events, nestedWorkflowId, agent);
}
