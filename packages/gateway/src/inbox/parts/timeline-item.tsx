import type { ComponentChildren } from 'preact';
import type { RecordedEvent, RunItem, RunCompleteEvent, ApprovalResultEvent } from 'countersign/client';
import { type Json, toldText, unfinishedText, shownPerson } from 'countersign/base';
import { requestHref, runHref } from '../state/location.ts';
import { LocalTime } from './time.tsx';
import { Foreign, Marked, Scrolling } from './shown-text.tsx';
import { valueChanges } from '../request/what-changed.ts';

/** Why a run could not begin, by code. Its own message is hidden if no policy says what reviewers may see. */
const sentences: Partial<Record<string, string>> = {
  agent_unknown: 'No worker of this task queue has an agent of that name. Names of agents distinguish capitals.',
  policy_invalid: 'The policy of the run, or of its agent, is not valid.',
  arguments_invalid: 'The input of the run is not valid.',
};

/** The arguments with which the model called, by the id of the call. */
export type AskedArguments = ReadonlyMap<string, Json>;

export function askedArguments(events: readonly RecordedEvent[]): AskedArguments {
  return new Map(
    events.flatMap((event) =>
      event.type === 'RunItemEvent' && event.item.type === 'tool_call' && event.item.arguments !== undefined
        ? [[event.item.callId, event.item.arguments] as const]
        : [],
    ),
  );
}

interface TimelineItemProps {
  event: RecordedEvent;
  asked: AskedArguments;
  /** Who writes the messages to the agent: in a nested run, the agent that called it. */
  caller?: string;
}

/** One event of a run, as one item of a list. A turn that ended with an answer shows nothing: the answer is shown. */
export function TimelineItem({ event, asked, caller = 'User' }: TimelineItemProps) {
  const parts = partsOf(event, asked);
  if (parts === undefined) return null;
  const { agent, tone, body } = parts;
  const label = tone === 'user' ? caller : parts.label;
  return (
    <li class={`event ${tone}`}>
      <p class="event-head">
        <b>
          <Foreign text={label} most={100} />
        </b>{' '}
        {agent !== undefined && <Foreign text={agent} most={100} />} <LocalTime at={event.at} />
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

function partsOf(event: RecordedEvent, asked: AskedArguments): Parts | undefined {
  switch (event.type) {
    case 'RunItemEvent':
      return itemParts(event.item, asked);
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
        body: (
          <>
            <Foreign text={failureText(event)} lines />
            <Finish of={event} />
          </>
        ),
      };
    case 'gap':
      return { label: 'Events are missing here', tone: 'bad', body: <Foreign text={event.message} /> };
  }
}

function resultLabel({ withheld, resultOf, isError }: Extract<RunItem, { type: 'tool_result' }>): string {
  if (withheld === true) return 'Result withheld';
  if (resultOf !== undefined) return 'Earlier result';
  return isError ? 'Error' : 'Result';
}

function itemParts(item: RunItem, asked: AskedArguments): Parts | undefined {
  switch (item.type) {
    case 'message':
      return {
        label: item.role === 'user' ? 'User' : 'Model',
        ...(item.role !== 'user' && { agent: item.agentName }),
        tone: item.role === 'user' ? 'user' : 'plain',
        body: (
          <>
            <Foreign text={toldText(item.content, item.files ?? [])} lines json={isJson(item.content)} />
            <Finish of={item} />
          </>
        ),
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
        label: resultLabel(item),
        tone: item.isError || item.withheld === true ? 'bad' : 'plain',
        body: (
          <>
            <p class="soft">
              <Foreign text={item.toolName} />
              {item.ran === 'unknown' && ' – it is unknown whether it ran'}
              {item.resultOf !== undefined ? (
                <>
                  {' – it did not run again: the result of call '}
                  <Foreign text={item.resultOf} />
                </>
              ) : (
                item.ran === 'no' && ' – it did not run'
              )}
            </p>
            <Foreign text={item.content} lines json={isJson(item.content)} />
            {item.arguments !== undefined && <Edited before={asked.get(item.callId)} after={item.arguments} />}
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
    case 'turn_ended':
      if (item.stopped) return { label: 'Stopped', tone: 'plain', body: 'The user stopped this turn.' };
      if (item.failure === undefined) return undefined;
      return { label: 'No answer', tone: 'bad', body: <Foreign text={failureText(item)} lines /> };
  }
}

function Finish({ of: { finish } }: { of: Pick<RunCompleteEvent, 'finish'> }) {
  return finish === undefined ? null : <p class="soft">{unfinishedText(finish)}</p>;
}

/** What a call ran with, if it was changed, and the changes. */
function Edited({ before, after }: { before: Json | undefined; after: Json }) {
  const changes = before === undefined ? [] : valueChanges(before, after);
  return (
    <>
      <p class="soft">
        It ran with these arguments
        {changes.length > 0 && (
          <>
            , changed by a reviewer: <Marked text={changes.join(', ')} />
          </>
        )}
      </p>
      <Arguments value={after} />
    </>
  );
}

/** True for the JSON of an object or a list, as most results of tools are. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function Arguments({ value }: { value: unknown }) {
  return (
    <Scrolling class="arguments" label="Arguments of the call">
      <Foreign text={JSON.stringify(value, undefined, 2)} json most={1_000} />
    </Scrolling>
  );
}

/** Why a run or a turn ended without success. */
function failureText({ failure, output = '' }: Partial<Pick<RunCompleteEvent, 'failure' | 'output'>>): string {
  if (failure === undefined) return output;
  const isHidden = /^\s*(?:\[[A-Z_]+\]\s*)*$/.test(failure.message);
  const sentence = sentences[failure.code ?? ''];
  if (isHidden) return sentence ?? (failure.code === undefined ? failure.message : `Code ${failure.code}.`);
  return failure.message;
}

type Result = Pick<
  ApprovalResultEvent,
  'decision' | 'reviewerId' | 'reviewerName' | 'reason' | 'identity' | 'by' | 'byId'
>;

const words: Readonly<Record<ApprovalResultEvent['decision'], string>> = {
  approved: 'approved',
  approved_always: 'approved',
  denied: 'denied',
  responded: 'answered in the place of the tool',
  expired: 'expired: no decision in time',
  cancelled: 'cancelled with the run',
  superseded: 'settled',
};

/** The settlement of a request, its reviewer and reason, in one line. */
export function decisionText({ decision, reviewerId, reviewerName, reason, identity, by, byId }: Result): string {
  const who =
    reviewerId === null
      ? ''
      : ` by ${shownPerson(reviewerId, reviewerName)}${identity === 'verified' ? '' : ' (claimed name)'}`;
  const thing = byId == null ? '' : ` ${byId}`;
  const way =
    decision === 'superseded' && by !== undefined
      ? ` by ${by === 'grant' ? `grant${thing}` : `a${by === 'edit' ? 'n edit' : ` ${by}`}`}`
      : '';
  const more = decision === 'approved_always' ? ', also for further calls' : '';
  return `${words[decision] ?? decision}${way}${who}${more}${reason === null || reason === '' ? '' : ` – ${reason}`}`;
}

export function decisionTone({ decision }: Pick<Result, 'decision'>): 'good' | 'bad' | 'plain' {
  if (decision === 'approved' || decision === 'approved_always') return 'good';
  return decision === 'denied' || decision === 'expired' ? 'bad' : 'plain';
}
