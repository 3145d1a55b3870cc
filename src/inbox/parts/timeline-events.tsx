import type { RecordedEvent } from '../../core/events/run-event.ts';
import type { EventsSoFar } from '../api/read-run-events.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { requestHref, runHref } from '../state/location.ts';
import { Moment } from './moment.tsx';
import { Foreign } from './shown-text.tsx';

/** What happened in a run, the newest last: its conversation, its calls and its decisions. */
export function TimelineEvents({ events, earlier, isCut }: EventsSoFar) {
  return (
    <>
      {isCut && <p class="note">This run has very many events: these are not the newest.</p>}
      {earlier > 0 && (
        <p class="soft">
          The newest {events.length} events. {earlier.toLocaleString('en')} earlier ones are in the view of the run.
        </p>
      )}
      {events.length === 0 && <p class="soft">Nothing so far.</p>}
      <ol class="timeline">
        {events.map((event) => (
          <li key={event.id} class={event.type}>
            <TimelineEvent event={event} />
            <p class="soft small">
              <Moment at={event.at} />
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

const longest = 600;

function TimelineEvent({ event }: { event: RecordedEvent }) {
  switch (event.type) {
    case 'RunItemEvent':
      return <Item event={event} />;
    case 'ApprovalRequestEvent':
      return (
        <p>
          Asked about <Name text={event.toolName} />:{' '}
          <a href={requestHref(event)}>
            <Foreign text={event.sentence ?? event.reason} most={longest} />
          </a>
        </p>
      );
    case 'ApprovalResultEvent':
      return (
        <p>
          <Name text={event.toolName} />: <strong>{event.decision.replaceAll('_', ' ')}</strong>
          {event.reviewerId !== null && (
            <>
              {' '}
              by <Foreign text={event.reviewerId} most={200} />
            </>
          )}
          {event.reason !== null && (
            <>
              : <Foreign text={event.reason} most={longest} />
            </>
          )}
        </p>
      );
    case 'RunCompleteEvent':
      return (
        <p>
          The run ended: <strong>{event.status}</strong>. <Foreign text={event.output} most={longest} lines />
        </p>
      );
    case 'gap':
      return (
        <p class="note">
          Events are missing here: <Foreign text={event.message} most={longest} />
        </p>
      );
  }
}

function Item({ event: { item } }: { event: RecordedEvent & { type: 'RunItemEvent' } }) {
  switch (item.type) {
    case 'message':
      return (
        <div class={`message ${item.role}`}>
          <p class="soft small">
            {item.role === 'user' ? (
              'User'
            ) : (
              <>Model {item.agentName !== undefined && <Name text={item.agentName} />}</>
            )}
          </p>
          <Foreign text={item.content} most={longest} lines />
        </div>
      );
    case 'tool_call':
      return (
        <p>
          Calls <Name text={item.toolName} /> {item.arguments !== undefined && <Value value={item.arguments} />}
        </p>
      );
    case 'tool_result':
      return (
        <p>
          <Name text={item.toolName} /> {item.isError ? 'failed' : 'gave'}:{' '}
          <Foreign text={item.content} most={longest} lines />
        </p>
      );
    case 'nested_run':
      return (
        <p>
          Starts the run{' '}
          <a href={runHref(item.workflowId)}>
            <Foreign text={item.workflowId} most={200} />
          </a>
        </p>
      );
    case 'handoff':
      return (
        <p>
          <Name text={item.from} /> hands over to <Name text={item.to} />
        </p>
      );
  }
}

function Name({ text }: { text: string }) {
  return (
    <code>
      <Foreign text={text} most={100} />
    </code>
  );
}

function Value({ value }: { value: Json }) {
  return (
    <code>
      <Foreign text={JSON.stringify(value)} most={longest} />
    </code>
  );
}
