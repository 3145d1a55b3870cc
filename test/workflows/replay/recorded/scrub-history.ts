import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';

type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** Values that identify a machine or a file on it, by key. None of them matters for a replay. */
const replaced: Record<string, JsonValue> = { identity: 'worker', stackTrace: '' };

/** A history as JSON with one event per line, without names of machines, addresses and paths. */
export function scrubbedHistory(history: temporal.api.history.v1.IHistory): string {
  const { events } = JSON.parse(historyToJSON(history)) as { events: JsonValue[] };
  return `{"events":[\n${events.map((event) => JSON.stringify(scrub(event))).join(',\n')}\n]}\n`;
}

function scrub(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(scrub);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [key, replaced[key] ?? scrub(field)] as const);
  const whole = Object.fromEntries(entries);
  // A worker's sticky task queue contains the name of its machine; `normalName` stays.
  return whole['kind'] === 'TASK_QUEUE_KIND_STICKY' ? { ...whole, name: 'sticky' } : whole;
}

/** All text in a history including its payloads, to search for what must not be there. */
export function textOf(json: string): string {
  const parts: string[] = [];
  JSON.parse(json, (key, value: unknown) => {
    if (key === 'data' && typeof value === 'string') parts.push(Buffer.from(value, 'base64').toString());
    else if (typeof value === 'string') parts.push(value);
    return value;
  });
  return parts.join('\n');
}
