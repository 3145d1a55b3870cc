import type {
  ApprovalRequestEvent,
  ApprovalResultEvent,
  GapEvent,
  RecordedEvent,
  RunCompleteEvent,
  RunItem,
  RunItemEvent,
} from 'countersign/client';
import type { Json } from 'countersign/base';

type Item<Type extends RunItem['type']> = Extract<RunItem, { type: Type }>;

export type Entry =
  | UserMessage
  | AgentMessage
  | ReviewerMessage
  | (Place & { kind: 'note'; about: Item<'handoff'> | Item<'turn_ended'> | GapEvent })
  | (Place & { kind: 'end'; end: RunCompleteEvent; isRepeated: boolean });

interface Place {
  id: string;
  at: string;
}

/** A message of the user; in a nested run, of the agent that called it. */
interface UserMessage extends Place {
  kind: 'user';
  item: Item<'message'>;
  /** True: the run failed before its agent did anything. No policy says what reviewers may see, so texts are hidden. */
  isBeforeStart: boolean;
}

export interface AgentMessage extends Place {
  kind: 'agent';
  /** The agent that wrote the message; undefined if the events do not say. */
  agent?: string;
  /** The text of the message. Absent: the model only called tools. */
  item?: Item<'message'>;
  calls: Call[];
}

interface ReviewerMessage extends Place {
  kind: 'reviewer';
  result: ApprovalResultEvent;
}

export interface Call {
  callId: string;
  toolName: string;
  arguments?: Json;
  /** The requests about the call, in order. After an edit, or a change of the tool, there is another request. */
  requests: { request: ApprovalRequestEvent; result?: ApprovalResultEvent }[];
  result?: Item<'tool_result'>;
  nestedWorkflowId?: string;
}

/** Makes the entries of a conversation from events. `agent`: the agent with which the run began. */
export function conversationOf(events: readonly RecordedEvent[], agent?: string): Entry[] {
  const entries: Entry[] = [];
  const calls = new Map<string, Call>();
  let speaker = agent;
  const push = (entry: Entry): void => void entries.push(entry);
  /** The message to which a call belongs: the last one if both have the same history event, as in one turn. */
  const messageAt = (event: RecordedEvent): AgentMessage => {
    const last = entries.at(-1);
    if (last?.kind === 'agent' && turnOf(last) === turnOf(event)) return last;
    const message: AgentMessage = { ...placeOf(event), kind: 'agent', agent: speaker, calls: [] };
    push(message);
    return message;
  };
  const callAt = (event: RecordedEvent, callId: string, toolName: string): Call => {
    const known = calls.get(callId);
    if (known !== undefined) return known;
    const call: Call = { callId, toolName, requests: [] };
    calls.set(callId, call);
    messageAt(event).calls.push(call);
    return call;
  };
  const add = (event: RunItemEvent): void => {
    const { item } = event;
    switch (item.type) {
      case 'message':
        if (item.role === 'user') return push({ ...placeOf(event), kind: 'user', item, isBeforeStart: false });
        speaker = item.agentName ?? speaker;
        return push({ ...placeOf(event), kind: 'agent', agent: speaker, item, calls: [] });
      case 'tool_call':
        // After a reset of the run, the same id can name another call.
        calls.delete(item.callId);
        Object.assign(callAt(event, item.callId, item.toolName), 'arguments' in item && { arguments: item.arguments });
        return;
      case 'tool_result':
        callAt(event, item.callId, item.toolName).result = item;
        return;
      case 'nested_run':
        callAt(event, item.callId, '').nestedWorkflowId = item.workflowId;
        return;
      case 'handoff':
        speaker = item.to;
        return push({ ...placeOf(event), kind: 'note', about: item });
      case 'turn_ended':
        // A turn that ended with an answer needs no note, because the conversation shows the answer.
        if (item.stopped !== true && item.failure === undefined) return;
        return push({ ...placeOf(event), kind: 'note', about: item });
    }
  };
  for (const event of events) {
    switch (event.type) {
      case 'RunItemEvent':
        add(event);
        break;
      case 'ApprovalRequestEvent': {
        callAt(event, event.callId, event.toolName).requests.push({ request: event });
        // A turn without a text names no agent, but its request does.
        speaker ??= event.agentName;
        const last = entries.at(-1);
        if (last?.kind === 'agent') last.agent ??= event.agentName;
        break;
      }
      case 'ApprovalResultEvent': {
        const { requests } = callAt(event, event.callId, event.toolName);
        const asked = requests.find(({ request }) => request.requestId === event.requestId);
        if (asked !== undefined) asked.result = event;
        if (isSaid(event)) push({ ...placeOf(event), kind: 'reviewer', result: event });
        break;
      }
      case 'RunCompleteEvent': {
        const last = entries.findLast((entry) => entry.kind === 'agent' && entry.item !== undefined);
        const isRepeated = last?.kind === 'agent' && last.item?.content === event.output;
        push({ ...placeOf(event), kind: 'end', end: event, isRepeated });
        break;
      }
      case 'gap':
        push({ ...placeOf(event), kind: 'note', about: event });
        break;
    }
  }
  const end = entries.at(-1);
  const hasBegun = entries.some(({ kind }) => kind !== 'user' && kind !== 'end');
  if (end?.kind !== 'end' || end.end.status !== 'failed' || hasBegun) return entries;
  return entries.map((entry) => (entry.kind === 'user' ? { ...entry, isBeforeStart: true } : entry));
}

/** True if a reviewer wrote a reason, which the model reads. */
export function isSaid({ reviewerId, identity, reason }: ApprovalResultEvent): boolean {
  return (reviewerId !== null || identity !== undefined) && reason !== null && reason !== '';
}

function placeOf({ id, at }: Place): Place {
  return { id, at };
}

/** The part `RUNID.EVENTID` of an id such as `RUNID.EVENTID.INDEX`, which names a history event. */
function turnOf({ id }: Place): string {
  return id.slice(0, id.lastIndexOf('.'));
}
