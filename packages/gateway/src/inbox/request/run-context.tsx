import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalDetails, RecordedEvent } from 'countersign/client';
import { problemText } from '../state/texts.ts';
import { Foreign, TemporalLink } from '../parts/shown-text.tsx';
import { askedArguments, TimelineItem } from '../parts/timeline-item.tsx';
import { runHref } from '../state/location.ts';
import type { RunEvents } from '../../http/inbox/api.ts';
import { apiPath, getJson } from '../api/fetch-json.ts';

/** A stream for each open request would use up the connections of the browser. */
const againMs = 5_000;

/** The run of the request: the runs above it, its events so far, and a link to Temporal's UI. */
export function RunContext({ request: { workflowId, lineage, settled } }: { request: ApprovalDetails }) {
  const [read, setRead] = useState<EventsSoFar>();
  const [problem, setProblem] = useState('');
  const latest = useRef<EventsSoFar>(undefined);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      try {
        if (document.visibilityState === 'visible') latest.current = await readRunEvents(workflowId, latest.current);
        if (!isOver) setRead(latest.current);
        setProblem('');
      } catch (error) {
        setProblem(problemText(error));
      }
      const hasEnded = latest.current?.events.at(-1)?.type === 'RunCompleteEvent';
      if (!isOver && !hasEnded) timer = setTimeout(() => void follow(), againMs);
    };
    void follow();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [workflowId, settled?.settledAt]);
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
        {problem !== '' && (
          <p class="note bad">
            It cannot be read: <Foreign text={problem} />
          </p>
        )}
        {read === undefined && problem === '' && <p class="soft">Loading …</p>}
        {read !== undefined && <Events {...read} />}
      </details>
    </section>
  );
}

function Events({ events, earlier, isCut }: EventsSoFar) {
  const asked = askedArguments(events);
  return (
    <>
      {isCut && <p class="note">This run has more events than are read here: these are not the newest.</p>}
      {earlier > 0 && (
        <p class="soft">
          The newest {events.length} events. The page of the run has the {earlier.toLocaleString('en')} earlier ones.
        </p>
      )}
      {events.length === 0 && <p class="soft">Nothing has happened yet.</p>}
      <ol class="run-events">
        {events.map((event) => (
          <TimelineItem key={event.id} event={event} asked={asked} />
        ))}
      </ol>
    </>
  );
}

/** The events of a run so far. */
export interface EventsSoFar {
  /** The newest ones, in order. */
  events: readonly RecordedEvent[];
  /** The number of earlier ones. */
  earlier: number;
  /** True: the run has so many events that only the earlier ones were read, so these are not the newest. */
  isCut: boolean;
}

const [mostKept, mostPages] = [500, 20];

/** Reads the events of a run, or those after `before`, and keeps the newest. */
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
