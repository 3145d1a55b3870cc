import type { RunEvent } from 'countersign/client';
import type { RunEvents } from '../../http/inbox/api.ts';
import { apiPath, getJson } from '../api/fetch-json.ts';
import { openStream, type StreamState, holdLock, whileVisible } from '../api/event-stream.ts';
import { emptyTimeline, type Timeline, withEvents, withoutWriting } from './timeline.ts';

/** The names of the events in the stream of a run. The further event `end` closes the stream. */
const eventNames = [
  'RawResponseEvent',
  'ApprovalRequestEvent',
  'ApprovalResultEvent',
  'RunItemEvent',
  'RunCompleteEvent',
  'gap',
] as const satisfies readonly RunEvent['type'][];

/** Events within this time are drawn together, because a model writes hundreds of parts in a second. */
const drawMs = 50;
/** How often a tab without the stream reads the events. The first read waits, because the tab may get the stream. */
const [firstReadMs, readMs] = [500, 3_000];

/**
 * Follows the events of a run, and calls `onChange` with its timeline after each change. Only the tab that last had the
 * focus has a stream. Other visible tabs poll the events, so they lack the text that the model is writing. Returns a
 * function that stops following.
 */
export function followRun(
  workflowId: string,
  onChange: (timeline: Timeline) => void,
  onState: (state: StreamState | 'ended') => void,
): () => void {
  const path = apiPath`/runs/${workflowId}/events`;
  let timeline = emptyTimeline;
  let arrived: RunEvent[] = [];
  let drawing: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const draw = (): void => {
    clearTimeout(drawing);
    drawing = undefined;
    timeline = withEvents(timeline, arrived);
    arrived = [];
    onChange(timeline);
  };
  const take = (event: unknown): void => {
    arrived.push(event as RunEvent);
    drawing ??= setTimeout(draw, drawMs);
  };
  /** Adds the events that are not drawn yet, and returns the parameter that asks for the events after the last one. */
  const place = (separator: string): string => {
    timeline = withoutWriting(withEvents(timeline, arrived));
    arrived = [];
    return timeline.lastId === undefined ? '' : `${separator}after=${encodeURIComponent(timeline.lastId)}`;
  };
  const end = (): void => {
    isOver = true;
    stop();
    draw();
    onState('ended');
  };
  const stream = (): (() => void) =>
    openStream({
      path: () => `${path}${place('?')}`,
      on: { ...Object.fromEntries(eventNames.map((name) => [name, take])), end },
      onState: (state) => !isOver && onState(state),
    });
  const read = async (signal: AbortSignal): Promise<void> => {
    let next: string | undefined;
    do {
      const page = await getJson<RunEvents>(`${path}?follow=false${place('&')}`, signal);
      if (signal.aborted) return;
      page.events.forEach(take);
      next = page.next;
    } while (next !== undefined);
    draw();
    if (timeline.end === undefined) onState('live');
    else end();
  };
  const stop = whileVisible(() => {
    if (isOver) return () => undefined;
    const left = new AbortController();
    let hasStream = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const lock = holdLock('countersign run', () => {
      hasStream = true;
      const close = stream();
      return () => {
        hasStream = false;
        close();
      };
    });
    const poll = async (): Promise<void> => {
      try {
        if (!hasStream) await read(left.signal);
      } catch {
        if (!left.signal.aborted) onState('lost');
      }
      if (!left.signal.aborted) timer = setTimeout(() => void poll(), readMs);
    };
    timer = setTimeout(() => void poll(), firstReadMs);
    window.addEventListener('focus', lock.take);
    return () => {
      left.abort();
      clearTimeout(timer);
      window.removeEventListener('focus', lock.take);
      lock.release();
    };
  });
  return () => {
    stop();
    clearTimeout(drawing);
  };
}
