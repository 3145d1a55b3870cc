import { sendJson } from '../api/fetch-json.ts';
import { loadMe } from '../state/me.ts';
import { endPush } from '../state/push.ts';

/** After this time the session ends even if the push service has not answered. */
const longestMs = 3_000;

/** Ends the session of this browser. */
export function SignOut() {
  const signOut = async (): Promise<void> => {
    const tooLong = new Promise((resolve) => setTimeout(resolve, longestMs));
    await Promise.race([endPush().catch(() => undefined), tooLong]);
    await sendJson('POST', '/logout').catch(() => undefined);
    await loadMe();
  };
  return (
    <button type="button" class="quiet" onClick={() => void signOut()}>
      Sign out
    </button>
  );
}
