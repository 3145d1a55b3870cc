import type { Problem } from 'countersign/base';
import { escapeHtml } from 'countersign/card';
import { htmlResponse } from '../responses/html-response.ts';
import { problemStatus } from '../responses/problem-status.ts';

/** Where a browser goes after signing in, by default. */
export const homePath = '/inbox/';

/** A path of this gateway, such as `/inbox/?tool=pay`; anything that leads elsewhere becomes the inbox. */
export function localPath(to: string | undefined): string {
  const base = 'http://gateway.invalid';
  if (to === undefined || !/^\/(?![/\\])[ -[\]-~]*$/.test(to) || !URL.canParse(to, base)) return homePath;
  const url = new URL(to, base);
  const isOurs = url.origin === base && !url.pathname.startsWith('//') && !url.pathname.startsWith('/login');
  return isOurs ? `${url.pathname}${url.search}${url.hash}` : homePath;
}

/** Asks for a token, which goes into the body of a form and never into an address. */
export function tokenPage(to: string, isWrong = false): Response {
  const wrong = isWrong
    ? '<p role="alert">The gateway does not know this token, or it has expired.</p>'
    : '<p>The gateway asks for the token that its operator gave you.</p>';
  const body = `<main class="card"><h1>Sign in</h1>${wrong}
<form method="post" action="/login/token">
<input type="hidden" name="to" value="${escapeHtml(to)}">
<label>Token <input type="password" name="token" required autocomplete="current-password" autofocus></label>
<div class="answers"><button>Sign in</button></div>
</form></main>`;
  return htmlResponse('Sign in', body, isWrong ? 401 : 200);
}

/** Says why a sign-in at the identity provider failed. `forget` removes the cookie of that sign-in. */
export function failedSignInPage({ code, message }: Problem, forget: string): Response {
  const body = `<main class="card"><h1>Not signed in</h1><p role="alert">${escapeHtml(message)}</p>
<p><a href="/login">Sign in again</a></p></main>`;
  return htmlResponse('Not signed in', body, problemStatus[code], { 'set-cookie': forget });
}
