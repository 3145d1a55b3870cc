import type { RunEvent } from 'countersign/client';
import { apiPath } from '../api/fetch-json.ts';
import { openStream, type StreamState } from '../api/event-stream.ts';
import { emptyTimeline, type Timeline, withEvents, withoutWriting } from './timeline.ts';

/** Names of `event:`; `end` closes the stream. */
const eventNames = [
  'RawResponseEvent',
  'ApprovalRequestEvent',
  'ApprovalResultEvent',
  'RunItemEvent',
  'RunCompleteEvent',
  'gap',
] as const satisfies readonly RunEvent['type'][];

/** Events of this time are drawn together: a model writes hundreds of parts a second. */
const drawMs = 50;

/** Follows the events of a run, and hands out its timeline when it has changed. Returns how to stop. */
export function followRun(
  workflowId: string,
  onChange: (timeline: Timeline) => void,
  onState: (state: StreamState | 'ended') => void,
): () => void {
  let timeline = emptyTimeline;
  let arrived: RunEvent[] = [];
  let drawing: ReturnType<typeof setTimeout> | undefined;
  const draw = (): void => {
    drawing = undefined;
    timeline = withEvents(timeline, arrived);
    arrived = [];
    onChange(timeline);
  };
  const take = (event: unknown): void => {
    arrived.push(event as RunEvent);
    drawing ??= setTimeout(draw, drawMs);
  };
  let isOver = false;
  const close = openStream({
    path: () => {
      // Events that have arrived count, even if they are not drawn yet.
      timeline = withoutWriting(withEvents(timeline, arrived));
      arrived = [];
      const { lastId } = timeline;
      const path = apiPath`/runs/${workflowId}/events`;
      return lastId === undefined ? path : `${path}?after=${encodeURIComponent(lastId)}`;
    },
    on: {
      ...Object.fromEntries(eventNames.map((name) => [name, take])),
      end: () => {
        isOver = true;
        close();
        draw();
        onState('ended');
      },
    },
    onState: (state) => !isOver && onState(state),
  });
  return () => {
    close();
    clearTimeout(drawing);
  };
}
