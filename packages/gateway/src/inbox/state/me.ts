import type { Me } from '../../http/inbox/api.ts';
import { ApiProblem, getJson, onUnauthenticated } from '../api/fetch-json.ts';
import { createStore } from './store.ts';

/** Who looks at the page. `unknown`: the gateway has not answered yet. */
export type SessionState =
  | { state: 'unknown' }
  | { state: 'signed-in'; me: Me }
  /** Absent `loginUrl`: browsers cannot sign in here. */
  | { state: 'signed-out'; loginUrl?: string };

export const session = createStore<SessionState>({ state: 'unknown' });

onUnauthenticated((loginUrl) => session.set({ state: 'signed-out', ...(loginUrl !== undefined && { loginUrl }) }));

const againMs = 3_000;

let asking: Promise<void> | undefined;

/** Asks the gateway who this is, until it answers. */
export function loadMe(): Promise<void> {
  asking ??= ask().finally(() => (asking = undefined));
  return asking;
}

async function ask(): Promise<void> {
  for (;;) {
    try {
      return session.set({ state: 'signed-in', me: await getJson<Me>('/me') });
    } catch (error) {
      // `onUnauthenticated` has noted this.
      if (error instanceof ApiProblem && error.code === 'unauthenticated') return;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}

/** The person who is signed in; undefined while that is unknown. */
export function meOf(state: SessionState): Me | undefined {
  return state.state === 'signed-in' ? state.me : undefined;
}
