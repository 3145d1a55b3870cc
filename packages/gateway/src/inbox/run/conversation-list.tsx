import type { ComponentChildren } from 'preact';
import { type Json, toldText, unfinishedText } from 'countersign/base';
import { rowSentence } from 'countersign/card';
import type { RecordedEvent, RunCompleteEvent, RunItem } from 'countersign/client';
import { LocalTime } from '../parts/time.tsx';
import { Foreign, Marked, Scrolling } from '../parts/shown-text.tsx';
import { valueChanges } from '../request/what-changed.ts';
import { requestHref, runHref } from '../state/location.ts';
import { callState } from './call-state.ts';
import { type AgentMessage, type Call, conversationOf, type Entry } from './conversation.ts';
import { reviewerText, settledText } from './decision-text.ts';
import { Button } from '../parts/controls.tsx';

/** Sentences for failures by code, for a run that failed so early that its own message is redacted. */
const sentences: Partial<Record<string, string>> = {
  agent_unknown: 'No worker of this task queue has an agent of that name. Names of agents distinguish capitals.',
  policy_invalid: 'The policy of the run, or of its agent, is not valid.',
  arguments_invalid: 'The input of the run is not valid.',
};

export interface Speaker {
  name: string;
  role?: string;
}

export function userSpeaker(name: string | undefined): Speaker {
  return name === undefined ? { name: 'User' } : { name, role: 'user' };
}

export function agentSpeaker(name: string | undefined): Speaker {
  return name === undefined ? { name: 'The calling agent' } : { name, role: 'calling agent' };
}

interface ConversationProps {
  events: readonly RecordedEvent[];
  /** Who writes to the agent: the user; in a nested run, the agent that called it. */
  caller: Speaker;
  agent?: string | undefined;
  most?: number;
  showMore?: () => void;
  writing?: ComponentChildren;
}

/** The last `most` messages of a run, a button that shows more, and the message that the model is `writing`. */
export function Conversation({ events, caller, agent, most = Infinity, showMore, writing }: ConversationProps) {
  const entries = conversationOf(events, agent);
  const hidden = Math.max(0, entries.length - most);
  const isOver = events.at(-1)?.type === 'RunCompleteEvent';
  return (
    <>
      {hidden > 0 && (
        <p>
          <Button onClick={showMore}>Show earlier messages ({hidden.toLocaleString('en')} are hidden)</Button>
        </p>
      )}
      <ol class="conversation">
        {entries.slice(hidden).map((entry) => (
          <Item key={entry.id} entry={entry} caller={caller} isOver={isOver} />
        ))}
        {writing}
      </ol>
    </>
  );
}

/** An entry of a conversation. It repeats neither the name of a reviewer, nor an output that is the last message. */
function Item({ entry, caller, isOver }: { entry: Entry; caller: Speaker; isOver: boolean }) {
  switch (entry.kind) {
    case 'user':
      return (
        <Message tone="user" by={caller} at={entry.at}>
          {entry.isBeforeStart && isHidden(entry.item.content) ? (
            <p class="soft">Hidden, because the run did not begin.</p>
          ) : (
            <Words of={entry.item} />
          )}
        </Message>
      );
    case 'agent':
      return <AgentItem message={entry} isOver={isOver} />;
    case 'reviewer': {
      const { result } = entry;
      const tone = result.decision === 'denied' ? 'denies' : 'reviewer';
      return (
        <Message tone={tone} by={{ name: reviewerText(result), role: 'reviewer' }} at={entry.at}>
          <p class="soft">
            <Foreign text={`${result.toolName}: ${settledText({ ...result, reviewerId: null })}`} />
          </p>
          <Foreign text={result.reason ?? ''} lines />
        </Message>
      );
    }
    case 'note':
      return <NoteItem entry={entry} />;
    case 'end': {
      const { end, isRepeated } = entry;
      const isGood = end.status === 'completed';
      return (
        <Note tone={isGood ? 'good' : 'bad'} label={isGood ? 'Completed' : `Ended: ${end.status}`} at={entry.at}>
          {!isRepeated && <Foreign text={failureText(end)} lines />}
          {!isRepeated && <Finish of={end} />}
        </Note>
      );
    }
  }
}

interface MessageProps {
  by: Speaker;
  tone: 'user' | 'agent' | 'reviewer' | 'denies';
  at?: string;
  children: ComponentChildren;
}

/** A message below the name of its author. Without `at`, the model is still writing it. */
export function Message({ by, tone, at, children }: MessageProps) {
  return (
    <li class={`message ${tone}`} aria-busy={at === undefined ? 'true' : undefined}>
      <p class="message-head">
        <b>
          <Foreign text={by.name} most={100} />
        </b>
        {by.role !== undefined && <> {by.role}</>}
        {at !== undefined && <LocalTime before=" " at={at} />}
      </p>
      <div class="message-body">{children}</div>
    </li>
  );
}

interface NoteProps {
  tone: 'plain' | 'good' | 'bad';
  label?: string;
  at: string;
  children: ComponentChildren;
}

function Note({ tone, label, at, children }: NoteProps) {
  return (
    <li class={`run-note ${tone}`}>
      {label !== undefined && <b>{label}</b>} {children} <LocalTime at={at} />
    </li>
  );
}

function NoteItem({ entry: { about, at } }: { entry: Extract<Entry, { kind: 'note' }> }) {
  switch (about.type) {
    case 'handoff':
      return (
        <Note tone="plain" at={at}>
          <Foreign text={about.from} most={100} /> hands the conversation over to <Foreign text={about.to} most={100} />
          .
        </Note>
      );
    case 'turn_ended':
      if (about.stopped === true) {
        return (
          <Note tone="plain" at={at}>
            The user stopped this turn.
          </Note>
        );
      }
      return (
        <Note tone="bad" label="No answer" at={at}>
          <Foreign text={failureText(about)} lines />
        </Note>
      );
    case 'gap':
      return (
        <Note tone="bad" label="Events are missing here" at={at}>
          <Foreign text={about.message} />
        </Note>
      );
  }
}

function AgentItem({ message: { agent, item, calls, at }, isOver }: { message: AgentMessage; isOver: boolean }) {
  const by = agent === undefined ? { name: 'Agent' } : { name: agent, role: 'agent' };
  return (
    <Message tone="agent" by={by} at={at}>
      {item !== undefined && <Words of={item} />}
      {calls.map((call, index) => (
        <CallBlock key={index} call={call} isOver={isOver} />
      ))}
    </Message>
  );
}

function Words({ of }: { of: Extract<RunItem, { type: 'message' }> }) {
  return (
    <>
      <Foreign text={toldText(of.content, of.files ?? [])} lines json={isJson(of.content)} />
      <Finish of={of} />
    </>
  );
}

/** A call, what became of it, its arguments and its result, which is folded if it only says that nothing ran. */
function CallBlock({ call, isOver }: { call: Call; isOver: boolean }) {
  const { arguments: args, result, requests, toolName } = call;
  const { text, tone } = callState(call, isOver);
  const isAnswer = requests.at(-1)?.result?.decision === 'responded';
  return (
    <div class={`call ${tone}`}>
      <p>
        <CallSentence call={call} />
      </p>
      <p class="call-state">
        <Foreign text={text} most={600} />
      </p>
      {args !== undefined && (
        <details>
          <summary>
            Arguments of <Foreign text={toolName} most={100} />
          </summary>
          <Arguments value={args} />
        </details>
      )}
      {result?.arguments !== undefined && <Edited before={args} after={result.arguments} />}
      {result !== undefined && (
        <Result text={result.content} isFolded={requests.at(-1)?.result?.ran === 'no' && !isAnswer} />
      )}
    </div>
  );
}

function CallSentence({ call }: { call: Call }) {
  const { nestedWorkflowId, requests, toolName } = call;
  const request = requests.at(-1)?.request;
  if (nestedWorkflowId !== undefined) {
    return (
      <a href={runHref(nestedWorkflowId)}>
        {toolName === '' ? 'Asked an agent' : <Foreign text={`Asked the agent ${toolName}`} most={200} />} ›
      </a>
    );
  }
  const sentence = <Marked text={sentenceOf(call)} />;
  return request === undefined ? sentence : <a href={requestHref(request)}>{sentence}</a>;
}

/** The most characters of a value, and the most values, that are read for a sentence, which shortens both anyway. */
const [longestValue, mostValues] = [400, 20];

/** One sentence about a call: that of its last request, else one made of its arguments, with escapes. */
function sentenceOf({ toolName, arguments: args, requests }: Call): string {
  const sentence = requests.at(-1)?.request.sentence;
  const entries = Object.entries(typeof args === 'object' && args !== null ? args : {});
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const shown = entries.slice(0, mostValues).map(([name, value]) => [name, firstLine(textOf(value))] as const);
  return rowSentence({
    toolName,
    ...(sentence !== undefined && { sentence }),
    shownArguments: Object.fromEntries(shown),
    argumentNames: entries.map(([name]) => name),
  });
}

function firstLine(text: string): string {
  const [line = '', ...more] = text.slice(0, longestValue).trimStart().split(/\r?\n/, 2);
  return `${line.toWellFormed()}${more.length > 0 ? ' …' : ''}`;
}

const [longestShown, mostLines] = [400, 6];

/** The result of a call. `isFolded`: the text only repeats what became of the call, so it is folded. */
function Result({ text, isFolded }: { text: string; isFolded: boolean }) {
  const isLong = text.length > longestShown || text.split('\n', mostLines + 1).length > mostLines;
  const body = <Foreign text={text} lines json={isJson(text)} />;
  if (!isLong && !isFolded) return <p class="call-result">{body}</p>;
  return (
    <details>
      <summary>
        {isFolded ? 'What the model received' : `Result (${text.length.toLocaleString('en')} characters)`}
      </summary>
      <p class="call-result">{body}</p>
    </details>
  );
}

function Finish({ of: { finish } }: { of: Pick<RunCompleteEvent, 'finish'> }) {
  return finish === undefined ? null : <p class="soft">{unfinishedText(finish)}</p>;
}

/** Says that a call ran with other arguments, and which values a reviewer changed, if the former ones are known. */
function Edited({ before, after }: { before: Json | undefined; after: Json }) {
  const changes = before === undefined ? [] : valueChanges(before, after);
  return (
    <>
      <p class="soft">
        It ran with other arguments
        {changes.length > 0 && (
          <>
            , changed by a reviewer: <Marked text={changes.join(', ')} />
          </>
        )}
      </p>
      <details>
        <summary>Arguments with which it ran</summary>
        <Arguments value={after} />
      </details>
    </>
  );
}

/** True for the JSON of an object or an array. Most results of tools are such JSON. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function Arguments({ value }: { value: Json }) {
  return (
    <Scrolling class="arguments" label="Arguments of the call">
      <Foreign text={JSON.stringify(value, undefined, 2)} json most={1_000} />
    </Scrolling>
  );
}

/** True for a text that consists of placeholders such as `[REDACTED]`. */
function isHidden(text: string): boolean {
  return /^\s*(?:\[[A-Z_]+\]\s*)*$/.test(text);
}

/** Why a run or a turn failed, or its output if it did not. For a hidden message, a sentence by the code. */
function failureText({ failure, output = '' }: Partial<Pick<RunCompleteEvent, 'failure' | 'output'>>): string {
  if (failure === undefined) return output;
  const sentence = sentences[failure.code ?? ''];
  if (!isHidden(failure.message)) return failure.message;
  return sentence ?? (failure.code === undefined ? failure.message : `Code ${failure.code}.`);
}
