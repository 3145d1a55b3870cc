import type { temporal } from '@temporalio/proto';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { ProblemError } from '../../core/base/problem.ts';
import type { Started } from '../../events/history-event.ts';
import type { RecordedEvent } from '../../events/run-event.ts';
import { RunProjection } from '../../events/run-projection.ts';
import { decodeWith } from './history-chain.ts';
import { ReadingCodec } from '../server/client-plugin.ts';
import { HistoryReader } from './read-history-event.ts';
import { readValue } from '../server/read-payload.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

/**
 * Returns the events of a run from its exported history, one text for each execution, oldest first. An encrypted
 * payload becomes a `gap`. Throws `invalid_message` for a text that is not the JSON of Temporal's UI or command line.
 */
export async function eventsOfHistories(texts: readonly string[]): Promise<RecordedEvent[]> {
  const codec = new ReadingCodec([]);
  const histories = texts.map(readHistory);
  await decodeWith((payloads) => codec.decode(payloads), histories.flat());
  const reader = new HistoryReader(readValue);
  const executions = histories.map((events) => events.map((event) => reader.read(event)));
  const { workflowId = '', before } = (executions[0]?.[0]?.what ?? {}) as Partial<Started>;
  const projection = new RunProjection(workflowId);
  if (before !== undefined) {
    const message = `The history before is not given: execution ${before}.`;
    projection.noteGap({ reason: 'retention', message });
  }
  return executions.flatMap((events) => {
    const { runId } = events[0]!.what as Started;
    return events.flatMap((event) => projection.add(runId, event));
  });
}

/** Reads an exported history: an object with `events`, or only their list. Throws `invalid_message`. */
function readHistory(text: string): Event[] {
  try {
    const value: unknown = JSON.parse(text);
    const list: unknown = Array.isArray(value) ? value : (value as { events?: unknown } | null)?.events;
    const { events } = historyFromJSON({ events: (list as unknown[]).map(withPayloads) });
    if (events?.[0]?.workflowExecutionStartedEventAttributes == null) throw new TypeError('no start');
    return events;
  } catch (error) {
    const message = `This is no history of a workflow: export it with Temporal's UI, or with \`temporal workflow show --output json\`.`;
    throw new ProblemError({ code: 'invalid_message', message }, { cause: error });
  }
}

/** The names of members that contain payloads, in a list or an object. */
const holders = ['payloads', 'fields', 'indexedFields'];

/** Converts every payload to the form of Temporal's protocol. An exported history may have its JSON value instead. */
function withPayloads(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPayloads);
  if (typeof value !== 'object' || value === null) return value;
  // Leave out the summaries for Temporal's UI: they are payloads too, but say nothing about the run.
  const members = Object.entries(value).filter(([name]) => name !== 'userMetadata');
  return Object.fromEntries(
    members.map(([name, member]) => {
      if (name === 'encodedAttributes') return [name, asPayload(member)];
      return [name, holders.includes(name) ? withEachAsPayload(member) : withPayloads(member)];
    }),
  );
}

function withEachAsPayload(holder: unknown): unknown {
  if (Array.isArray(holder)) return holder.map(asPayload);
  if (typeof holder !== 'object' || holder === null) return holder;
  return Object.fromEntries(Object.entries(holder).map(([key, member]) => [key, asPayload(member)]));
}

function asPayload(value: unknown): unknown {
  const { metadata } = (value ?? {}) as { metadata?: { encoding?: unknown } | null };
  if (typeof metadata === 'object' && typeof metadata?.encoding === 'string') return value;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(value)) };
}
