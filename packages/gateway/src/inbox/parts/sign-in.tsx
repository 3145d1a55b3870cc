import { useState } from 'preact/hooks';
import type { Role } from '../../http/identity/principal.ts';
import { sendJson } from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';
import { loadMe } from '../state/me.ts';
import { endPush } from '../state/push.ts';
import { Button, onSend, ProblemText, TextField } from './controls.tsx';

export function SignIn({ loginUrl }: { loginUrl?: string | undefined }) {
  const [problem, setProblem] = useState('');
  const [token, setToken] = useState('');
  if (loginUrl === undefined) {
    return (
      <section class="narrow">
        <h1>You are signed out</h1>
        <p>
          Browsers cannot sign in here, because the gateway's identity file has no public_url. Ask the operator of this
          gateway to add it.
        </p>
      </section>
    );
  }
  const signIn = async (): Promise<void> => {
    try {
      await sendJson('POST', '/login/token', { token });
      setToken('');
      await loadMe();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  const here = location.pathname + location.search;
  return (
    <section class="narrow">
      <h1>Sign in</h1>
      <p>
        <a class="button primary" href={`${loginUrl}?to=${encodeURIComponent(here)}`}>
          Sign in
        </a>
      </p>
      <form class="token" onSubmit={onSend(signIn)}>
        <TextField
          label="Or with a token"
          type="password"
          autocomplete="off"
          required
          value={token}
          aria-describedby="sign-in-problem"
          change={setToken}
        />
        <ProblemText id="sign-in-problem">{problem}</ProblemText>
        <p class="buttons">
          <button type="submit">Sign in with the token</button>
        </p>
      </form>
    </section>
  );
}

export function NeedsRole({ title, role }: { title: string; role: Role }) {
  return (
    <>
      <h1>{title}</h1>
      <p>This needs the role {role}. Ask the operator of this gateway.</p>
    </>
  );
}

/** How long signing out waits for the end of web push, in milliseconds. */
const longestMs = 3_000;

/** The button that signs out. It ends web push first, because only a signed-in user can end web push. */
export function SignOut() {
  const signOut = async (): Promise<void> => {
    const tooLong = new Promise((resolve) => setTimeout(resolve, longestMs));
    await Promise.race([endPush().catch(() => undefined), tooLong]);
    await sendJson('POST', '/logout').catch(() => undefined);
    await loadMe();
  };
  return (
    <Button class="quiet" onClick={() => void signOut()}>
      Sign out
    </Button>
  );
}
