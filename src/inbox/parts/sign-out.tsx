import { sendJson } from '../api/fetch-json.ts';
import { loadMe } from '../state/me.ts';
import { endPush } from '../state/push.ts';

/** Ends the session of this browser. */
export function SignOut() {
  const signOut = async (): Promise<void> => {
    await endPush();
    await sendJson('POST', '/logout').catch(() => undefined);
    await loadMe();
  };
  return (
    <button type="button" class="quiet" onClick={() => void signOut()}>
      Sign out
    </button>
  );
}
