import { sendJson } from '../api/fetch-json.ts';
import { loadMe } from '../state/me.ts';
import { endPush } from '../state/push.ts';

/** A push service that does not answer keeps nobody signed in. */
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
