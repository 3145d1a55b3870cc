import type { Problem } from 'countersign/base';
import type { InboxEvents } from '../../http/inbox/api.ts';
import { openStream, type StreamState } from '../api/event-stream.ts';
import { type OpenRows, withoutRow, withRow, withSnapshot } from './open-rows.ts';
import { createStore } from './store.ts';
import { loadMe } from './me.ts';

/** The open requests of all runs, as the gateway tells them. */
export interface OpenRequests {
  stream: StreamState;
  /** Absent: nothing was read yet. */
  open?: OpenRows;
  /** Present: the gateway cannot read Temporal now. */
  trouble?: Problem;
}

export const openRequests = createStore<OpenRequests>({ stream: 'connecting' });

type Listener = (
  event: { kind: 'changed'; row: InboxEvents['changed'] } | { kind: 'gone'; gone: InboxEvents['gone'] },
) => void;
const listeners = new Set<Listener>();

/** Calls back for each request that was opened, has changed or was settled; returns how to stop that. */
export function onRequestChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps `openRequests` up to date until the returned function is called. */
export function followOpenRequests(): () => void {
  const change = (next: Partial<OpenRequests>): void => openRequests.update((before) => ({ ...before, ...next }));
  const changeRows = (make: (open: OpenRows) => OpenRows): void => {
    const { open } = openRequests.get();
    if (open !== undefined) change({ open: make(open), trouble: undefined });
  };
  return openStream({
    path: () => '/approvals/events',
    onState: (stream) => {
      change({ stream });
      // `EventSource` does not say why a stream was refused. The answer to `/me` shows whether the session has ended.
      if (stream === 'lost') void loadMe();
    },
    on: {
      snapshot: (data) => change({ open: withSnapshot(data as InboxEvents['snapshot']), trouble: undefined }),
      changed: (data) => {
        const row = data as InboxEvents['changed'];
        changeRows((open) => withRow(open, row));
        for (const listener of listeners) listener({ kind: 'changed', row });
      },
      gone: (data) => {
        const gone = data as InboxEvents['gone'];
        changeRows((open) => withoutRow(open, gone));
        for (const listener of listeners) listener({ kind: 'gone', gone });
      },
      trouble: (data) => change({ trouble: data as InboxEvents['trouble'] }),
    },
  });
}
