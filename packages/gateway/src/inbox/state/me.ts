import type { Me } from '../../http/inbox/api.ts';
import { ApiProblem, getJson, onUnauthenticated } from '../api/fetch-json.ts';
import { createStore } from './store.ts';

/** Who is signed in on this page. `unknown`: the gateway has not answered yet. */
export type SessionState =
  | { state: 'unknown' }
  | { state: 'signed-in'; me: Me }
  /** `loginUrl`: the page for signing in. Absent: browsers cannot sign in at this gateway. */
  | { state: 'signed-out'; loginUrl?: string };

export const session = createStore<SessionState>({ state: 'unknown' });

onUnauthenticated((loginUrl) => session.set({ state: 'signed-out', ...(loginUrl !== undefined && { loginUrl }) }));

const againMs = 3_000;

let asking: Promise<void> | undefined;
let lastId: string | undefined;

/** Reads the session now, and after a sign-in or sign-out in another tab, because all tabs share the cookie. */
export function followSession(): void {
  const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('countersign session') : undefined;
  let sentKey: string | undefined;
  session.subscribe(() => {
    const now = session.get();
    if (now.state === 'unknown' || stateKey(now) === sentKey) return;
    sentKey = stateKey(now);
    tabs?.postMessage(sentKey);
  });
  tabs?.addEventListener('message', ({ data }) => {
    if (data !== sentKey) void loadMe();
  });
  void loadMe();
}

export function loadMe(): Promise<void> {
  asking ??= ask().finally(() => (asking = undefined));
  return asking;
}

/** Asks the gateway, until it answers, who is signed in. If that is another person than before, the page reloads. */
async function ask(): Promise<void> {
  for (;;) {
    try {
      const me = await getJson<Me>('/me');
      if (lastId !== undefined && lastId !== me.id) {
        // In this state, `decisions.ts` drops delayed answers. Otherwise they would be sent in the other person's name.
        session.set({ state: 'unknown' });
        location.reload();
      }
      lastId = me.id;
      return session.set({ state: 'signed-in', me });
    } catch (error) {
      // `getJson` has called the function of `onUnauthenticated`, which has set the session.
      if (error instanceof ApiProblem && error.code === 'unauthenticated') return;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}

function stateKey(state: SessionState): string {
  return meOf(state)?.sessionKey ?? state.state;
}

export function meOf(state: SessionState): Me | undefined {
  return state.state === 'signed-in' ? state.me : undefined;
}
