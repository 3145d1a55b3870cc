import type { ComponentChildren } from 'preact';
import type { RecordedEvent, RunItem, RunCompleteEvent } from 'countersign/client';
import { requestHref, runHref } from '../state/location.ts';
import { decisionText, decisionTone } from './decision-text.ts';
import { LocalTime } from './local-time.tsx';
import { Foreign } from './shown-text.tsx';

/** Why a run could not begin, by code. Its own words are hidden where no policy says what people may see. */
const sentences: Partial<Record<string, string>> = {
  agent_unknown: 'No worker of this task queue has an agent of that name. Names of agents distinguish capitals.',
  policy_invalid: 'The policy of the run, or of its agent, is not valid.',
  arguments_invalid: 'The input of the run is not valid.',
};

/** One event of a run, as one item of a list. */
export function TimelineItem({ event }: { event: RecordedEvent }) {
  const { label, agent, tone, body } = partsOf(event);
  return (
    <li class={`event ${tone}`}>
      <p class="event-head">
        <b>{label}</b> {agent !== undefined && <Foreign text={agent} most={100} />} <LocalTime at={event.at} />
      </p>
      <div class="event-body">{body}</div>
    </li>
  );
}

interface Parts {
  label: string;
  /** The agent whose model wrote a message. */
  agent?: string;
  tone: 'plain' | 'user' | 'asks' | 'good' | 'bad';
  body: ComponentChildren;
}

function partsOf(event: RecordedEvent): Parts {
  switch (event.type) {
    case 'RunItemEvent':
      return itemParts(event.item);
    case 'ApprovalRequestEvent':
      return {
        label: 'Approval requested',
        tone: 'asks',
        body: (
          <p>
            <a href={requestHref(event)}>
              <Foreign text={event.toolName} />
            </a>
            {': '}
            <Foreign text={event.sentence ?? event.reason} />
          </p>
        ),
      };
    case 'ApprovalResultEvent':
      return {
        label: 'Decision',
        tone: decisionTone(event),
        body: (
          <p>
            <Foreign text={`${event.toolName}: ${decisionText(event)}`} />
          </p>
        ),
      };
    case 'RunCompleteEvent':
      return {
        label: event.status === 'completed' ? 'Completed' : `Ended: ${event.status}`,
        tone: event.status === 'completed' ? 'good' : 'bad',
        body: <Foreign text={failureText(event)} lines />,
      };
    case 'gap':
      return { label: 'Events are missing here', tone: 'bad', body: <Foreign text={event.message} /> };
  }
}

function itemParts(item: RunItem): Parts {
  switch (item.type) {
    case 'message':
      return {
        label: item.role === 'user' ? 'User' : 'Model',
        ...(item.role !== 'user' && { agent: item.agentName }),
        tone: item.role === 'user' ? 'user' : 'plain',
        body: <Foreign text={item.content} lines />,
      };
    case 'tool_call':
      return {
        label: 'Calls',
        tone: 'plain',
        body: (
          <>
            <p>
              <code>
                <Foreign text={item.toolName} />
              </code>
            </p>
            {item.arguments !== undefined && <Arguments value={item.arguments} />}
          </>
        ),
      };
    case 'tool_result':
      return {
        label: item.isError ? 'Error' : 'Result',
        tone: item.isError ? 'bad' : 'plain',
        body: (
          <>
            <p class="soft">
              <Foreign text={item.toolName} />
              {item.ran === 'unknown' && ' – it is unknown whether it ran'}
              {item.ran === 'no' && ' – it did not run'}
            </p>
            <Foreign text={item.content} lines />
            {item.arguments !== undefined && (
              <>
                <p class="soft">It ran with these arguments:</p>
                <Arguments value={item.arguments} />
              </>
            )}
          </>
        ),
      };
    case 'nested_run':
      return {
        label: 'Starts a run',
        tone: 'plain',
        body: (
          <a href={runHref(item.workflowId)}>
            <Foreign text={item.workflowId} />
          </a>
        ),
      };
    case 'handoff':
      return {
        label: 'Handoff',
        tone: 'plain',
        body: <Foreign text={`${item.from} hands the run over to ${item.to}`} />,
      };
  }
}

function Arguments({ value }: { value: unknown }) {
  return (
    <pre class="arguments">
      <Foreign text={JSON.stringify(value, undefined, 2)} lines most={1_000} />
    </pre>
  );
}

/** Why a run ended as it did. */
function failureText({ failure, output }: Pick<RunCompleteEvent, 'failure' | 'output'>): string {
  if (failure === undefined) return output;
  const isHidden = /^\s*(?:\[[A-Z_]+\]\s*)*$/.test(failure.message);
  const sentence = sentences[failure.code ?? ''];
  if (isHidden) return sentence ?? (failure.code === undefined ? failure.message : `Code ${failure.code}.`);
  return failure.message;
}
