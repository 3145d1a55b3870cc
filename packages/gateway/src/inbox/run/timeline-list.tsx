import { useState } from 'preact/hooks';
import type { StreamState } from '../api/event-stream.ts';
import { Foreign } from '../parts/shown-text.tsx';
import { TimelineItem } from '../parts/timeline-item.tsx';
import type { Timeline } from './timeline.ts';

const atOnce = 200;

interface TimelineListProps {
  timeline: Timeline;
  state: StreamState | 'ended';
}

/** The events of a run, the newest at the end, and the text that the model is writing now. */
export function TimelineList({ timeline, state }: TimelineListProps) {
  const [most, setMost] = useState(atOnce);
  const { events, dropped, writing } = timeline;
  const hidden = Math.max(0, events.length - most);
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
          <TimelineItem key={event.id} event={event} />
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
