import type { RecordedEvent } from 'countersign/client';
import type { RunEvents } from '../../http/inbox/api.ts';
import { apiPath, getJson } from './fetch-json.ts';

/** What has happened in a run so far. */
export interface EventsSoFar {
  /** The newest ones, in order. */
  events: readonly RecordedEvent[];
  /** The number of earlier ones. */
  earlier: number;
  /** True: the run has so many events that not all were read, so these are not the newest. */
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
