import type { Problem } from 'countersign/base';
import type { InboxEvents } from '../../http/inbox/api.ts';
import { type StreamState, openSharedStream } from '../api/event-stream.ts';
import { type OpenRows, snapshotOf, withoutRow, withRow, withSnapshot } from './open-rows.ts';
import type { RequestIds } from './paths.ts';
import { createStore } from './store.ts';
import { loadMe } from './me.ts';

export interface OpenRequests {
  stream: StreamState;
  open?: OpenRows;
  /** Why the gateway cannot read Temporal now. Absent: it can. */
  trouble?: Problem;
}

export const openRequests = createStore<OpenRequests>({ stream: 'connecting' });

/** Gets the changed request; undefined if any request may have changed while the stream was lost. */
type Listener = (request: RequestIds | undefined) => void;
const listeners = new Set<Listener>();

/** Calls `listener` for each opened, changed or settled request. Returns a function that stops this. */
export function onRequestChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps `openRequests` up to date. Tabs share a stream if they have the same session and version of the page. */
export function followOpenRequests(sessionKey: string): () => void {
  openRequests.set({ stream: 'connecting' });
  const change = (next: Partial<OpenRequests>): void => openRequests.update((before) => ({ ...before, ...next }));
  const changeRows = (make: (open: OpenRows) => OpenRows): void => {
    const { open } = openRequests.get();
    if (open !== undefined) change({ open: make(open), trouble: undefined });
  };
  const notify = (request?: RequestIds): void => {
    for (const listener of listeners) listener(request);
  };
  return openSharedStream({
    name: `countersign inbox ${sessionKey} ${import.meta.url}`,
    path: () => '/approvals/events',
    present: () => {
      const { open, trouble } = openRequests.get();
      return [
        ...(open === undefined ? [] : [['snapshot', snapshotOf(open)] as const]),
        ...(trouble === undefined ? [] : [['trouble', trouble] as const]),
      ];
    },
    onState: (stream) => {
      change({ stream });
      // `EventSource` does not say why a stream was refused, so `/me` is asked whether the session has ended.
      if (stream === 'lost') void loadMe();
    },
    on: {
      snapshot: (data) => {
        const isFirst = openRequests.get().open === undefined;
        change({ open: withSnapshot(data as InboxEvents['snapshot']), trouble: undefined });
        if (!isFirst) notify();
      },
      changed: (data) => {
        const row = data as InboxEvents['changed'];
        changeRows((open) => withRow(open, row));
        notify(row);
      },
      gone: (data) => {
        const gone = data as InboxEvents['gone'];
        changeRows((open) => withoutRow(open, gone));
        notify(gone);
      },
      trouble: (data) => change({ trouble: data as InboxEvents['trouble'] }),
    },
  });
}
