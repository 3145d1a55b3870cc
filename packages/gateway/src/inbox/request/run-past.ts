import type { RecordedEvent, RunItem } from 'countersign/client';
import { shownPerson, toldText } from 'countersign/base';

export interface RunPast {
  /** The last message of the user; in a nested run, of the agent that called it. */
  asked?: { text: string; at: string };
  /** True if a message of the model begins with the text. */
  isModels: (text: string) => boolean;
  calls: PastCall[];
}

interface PastCall {
  toolName: string;
  what: string;
}

type Result = Extract<RunItem, { type: 'tool_result' }>;

/** What came before a request in the events of its run. `events` need not have the event of the request itself. */
export function pastOf(events: readonly RecordedEvent[], requestId: string): RunPast {
  const opened = events.find((event) => event.type === 'ApprovalRequestEvent' && event.requestId === requestId);
  const before = opened === undefined ? events : events.slice(0, events.indexOf(opened));
  const items = before.flatMap((event) => (event.type === 'RunItemEvent' ? [event] : []));
  const asked = items.findLast(({ item }) => item.type === 'message' && item.role === 'user');
  const decisions = new Map<string, string>();
  const calls: PastCall[] = [];
  for (const event of before) {
    // Of an approved call, the result says what became of it.
    if (event.type === 'ApprovalResultEvent' && !['approved', 'approved_always'].includes(event.decision)) {
      const { decision, reviewerId, reviewerName } = event;
      const who = reviewerId === null ? '' : ` by ${shownPerson(reviewerId, reviewerName)}`;
      decisions.set(event.callId, `${decision}${who}`);
    }
    if (event.type === 'RunItemEvent' && event.item.type === 'tool_result') {
      const { callId, toolName } = event.item;
      calls.push({ toolName, what: decisions.get(callId) ?? whatBecame(event.item) });
    }
  }
  return {
    ...(asked?.item.type === 'message' && {
      asked: { text: toldText(asked.item.content, asked.item.files ?? []), at: asked.at },
    }),
    isModels: (text) =>
      items.some(({ item }) => item.type === 'message' && item.role === 'assistant' && item.content.startsWith(text)),
    calls,
  };
}

function whatBecame({ ran, isError }: Result): string {
  if (ran === 'yes') return isError ? 'failed' : 'ran';
  if (ran === 'unknown') return 'may have run';
  return ran === 'pending' ? 'runs' : 'did not run';
}

const mostNamed = 4;

/** Sums up calls: `3 calls before this: look_up ran twice, refund denied by Bob`. `isPart`: there may be more. */
export function callsText(calls: readonly PastCall[], isPart = false): string {
  if (calls.length === 0) return 'No call before this one.';
  const counts = new Map<string, number>();
  for (const { toolName, what } of calls) {
    const text = `${toolName} ${what}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const named = [...counts].map(([text, count]) => {
    if (count === 1) return text;
    return count === 2 ? `${text} twice` : `${text} ${count} times`;
  });
  // The last calls are the nearest to the request. The words `and 1 more` would be no shorter than the call.
  const shown =
    named.length > mostNamed + 1 ? [...named.slice(-mostNamed), `and ${named.length - mostNamed} more`] : named;
  const count = calls.length === 1 ? '1 call' : `${calls.length.toLocaleString('en')} calls`;
  return `${isPart ? 'At least ' : ''}${count} before this: ${shown.join(', ')}`;
}

/** The agent that called a nested run, by the events of the calling run, which began with the agent `startedWith`. */
export function callingAgent(
  events: readonly RecordedEvent[],
  nestedWorkflowId: string,
  startedWith?: string,
): string | undefined {
  let agent = startedWith;
  for (const event of events) {
    if (event.type !== 'RunItemEvent') continue;
    const { item } = event;
    if (item.type === 'message' && item.agentName !== undefined) agent = item.agentName;
    if (item.type === 'handoff') agent = item.to;
    if (item.type === 'nested_run' && item.workflowId === nestedWorkflowId) return agent;
  }
  return undefined;
}
