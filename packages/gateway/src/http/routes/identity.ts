import { createHash } from 'node:crypto';
import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ProblemError, isProblemError, type Problem } from 'countersign/base';
import type { Me } from '../inbox/api.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { wantsHtml, htmlResponse, problemOf, problemStatus } from '../responses.ts';
import type { IdentityService } from '../identity/identity-service.ts';
import type { PendingLogin } from '../identity/open-id.ts';
import { isPermitted, permissions, roles } from '../identity/principal.ts';
import * as answers from '../shapes/response-shapes.ts';
import { signerFor } from '../send-as.ts';
import { otherLoopbackName } from '../site.ts';
import { escapeHtml } from 'countersign/card';

const meShape = z
  .object({
    id: z.string(),
    name: z.string().optional(),
    roles: z.array(z.enum(roles)),
    groups: z.array(z.string()),
    via: z.enum(['local', 'token', 'jwt', 'session']),
    sessionKey: z.string(),
    signs: z.boolean(),
    undoMs: z.number(),
    pushKey: z.string().optional(),
    temporalUi: z.string().optional(),
  })
  .openapi('Me');
const tokenShape = z.strictObject({ token: z.string().min(1).max(8_000), to: z.string().max(2_000).optional() });
const toPath = z.string().max(2_000).optional().openapi({ description: 'The path to go to afterwards.' });
const loginMs = 10 * 60_000;

const me = defineRoute('GET /me', {
  summary: 'Who you are here',
  responses: { 200: answers.json(meShape, 'The sender of the request') },
});
const login = defineRoute('GET /login', {
  summary: 'Sign in with a browser',
  request: { query: z.object({ to: toPath }) },
  responses: {
    200: answers.page('A page that asks for a token'),
    303: { description: 'On to the identity provider, or to `public_url`' },
  },
});
const callback = defineRoute('GET /login/callback', {
  summary: 'Where the identity provider sends the browser back to',
  responses: { 303: { description: 'Signed in' } },
});
const token = defineRoute('POST /login/token', {
  summary: 'Sign in with a bearer token: sets the cookie of a session',
  request: {
    body: {
      content: {
        'application/json': { schema: tokenShape },
        'application/x-www-form-urlencoded': { schema: tokenShape },
      },
    },
  },
  responses: {
    204: { description: 'Signed in' },
    303: { description: 'Signed in, for the form of the page' },
    401: answers.page('The token is not valid: for the form, the page once more'),
  },
});
const logout = defineRoute('POST /logout', {
  summary: 'End the session of this browser',
  responses: { 204: { description: 'Signed out' } },
});

export function identityRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { identity, site } = gateway;
  return new OpenAPIHono<HttpEnv>()
    .openapi(me, (context) => context.json(meOf(gateway, context), 200))
    .openapi(login, async (context) => {
      const to = localPath(context.req.valid('query').to);
      if (site.isLocal) return context.redirect(to, 303);
      const elsewhere = otherLoopbackName(site, context.req.raw);
      if (elsewhere !== undefined) return context.redirect(`${elsewhere}/login?to=${encodeURIComponent(to)}`, 303);
      const { openId, cookies, seals } = signInOf(identity);
      if (openId === undefined) return tokenPage(to);
      const { url, login: pending } = await openId.begin(to);
      const expiresMs = Date.now() + loginMs;
      const sealed = await seals.seal('login', { ...pending }, expiresMs);
      context.header('set-cookie', cookies.set('login', sealed, expiresMs));
      return context.redirect(url, 303);
    })
    .openapi(callback, async (context) => {
      const service = signInOf(identity);
      const forget = service.cookies.remove('login');
      try {
        const { session, to } = await finish(service, context.req.raw, gateway.log);
        context.header('set-cookie', forget, { append: true });
        context.header('set-cookie', session, { append: true });
        return context.redirect(to, 303);
      } catch (error) {
        if (!isProblemError(error) || !wantsHtml(context.req.raw)) throw error;
        return failedSignInPage(problemOf(error), forget);
      }
    })
    .openapi(token, async (context) => {
      const { sessions, tokenOf } = signInOf(identity);
      const isForm = (context.req.header('content-type') ?? '').startsWith('application/x-www-form-urlencoded');
      const body = tokenShape.safeParse(context.req.valid(isForm ? 'form' : 'json'));
      if (!body.success) {
        throw new ProblemError({ code: 'arguments_invalid', message: `The body must be { "token": "…" }.` });
      }
      const to = localPath(body.data.to);
      // For the form, a wrong token is no error: the page comes once more. `then` also catches what `tokenOf` throws.
      const session = await Promise.resolve()
        .then(() => sessions.ofToken(tokenOf(body.data.token.trim())))
        .catch((error: unknown) => {
          if (isForm && isProblemError(error)) return undefined;
          throw error;
        });
      if (session === undefined) return tokenPage(to, true);
      context.header('set-cookie', session);
      return isForm ? context.redirect(to, 303) : context.body(null, 204);
    })
    .openapi(logout, (context) => {
      if (identity !== undefined) context.header('set-cookie', identity.sessions.end());
      return context.body(null, 204);
    });
}

function meOf(gateway: GatewayContext, context: Context<HttpEnv>): Me {
  const principal = context.get('principal')!;
  const { temporalUi, undoMs, client, push } = gateway;
  const maySubscribe = principal.via === 'session' && isPermitted(permissions['POST /push/subscribe'], principal.roles);
  return {
    id: principal.id,
    ...(principal.name !== undefined && { name: principal.name }),
    roles: [...principal.roles],
    groups: [...principal.groups],
    via: principal.via,
    sessionKey: sessionKeyOf(gateway, context),
    signs: signerFor(gateway, principal) !== undefined,
    undoMs,
    ...(push !== undefined && maySubscribe && { pushKey: push.publicKey }),
    ...(temporalUi !== undefined && {
      temporalUi: `${temporalUi.replace(/\/$/, '')}/namespaces/${encodeURIComponent(client.session.namespace)}`,
    }),
  };
}

/** The `sessionKey` of `Me`. Whatever changes the rows that a person sees, such as their groups, changes the key. */
function sessionKeyOf({ identity }: GatewayContext, context: Context<HttpEnv>): string {
  const { key, via, roles: ownRoles, groups } = context.get('principal')!;
  const cookie = via === 'session' ? identity?.cookies.read(context.req.raw, 'session') : undefined;
  return createHash('sha256')
    .update(JSON.stringify([key, via, ownRoles, groups, cookie]))
    .digest('base64url');
}

function signInOf(identity: IdentityService | undefined): IdentityService {
  if (identity?.canSignIn) return identity;
  const message = `Browsers cannot sign in here: the identity file has no 'public_url'.`;
  throw new ProblemError({ code: 'forbidden', message });
}

/** Ends a sign-in: the session's `Set-Cookie`, and the path to go to. Throws `unauthenticated` if it has failed. */
async function finish(
  { cookies, seals, sessions, openId }: IdentityService,
  request: Request,
  log: (line: string) => void,
): Promise<{ session: string; to: string }> {
  const cookie = cookies.read(request, 'login');
  const login = cookie === undefined ? undefined : await seals.open('login', cookie);
  if (openId === undefined || login === undefined) {
    const message = 'This browser has no sign-in under way here, or it has expired: sign in again.';
    throw new ProblemError({ code: 'unauthenticated', message });
  }
  const pending = login as unknown as PendingLogin;
  const person = await openId.finish(new URL(request.url), pending);
  const session = await sessions.ofPerson(person).catch((error: unknown) => {
    log(`A sign-in of ${person.id} failed: a session does not hold their ${person.groups.length} groups.`);
    throw error;
  });
  return { session, to: localPath(pending.to) };
}

export const homePath = '/inbox/';

/** Returns `to` if it is a path of this gateway, such as `/inbox/?tool=pay`, else the path of the inbox. */
export function localPath(to: string | undefined): string {
  const base = 'http://gateway.invalid';
  // Browsers read `//host` and `/\host` as another site, and a path of `/login` would begin the sign-in again.
  if (to === undefined || !/^\/(?![/\\])[ -[\]-~]*$/.test(to) || !URL.canParse(to, base)) return homePath;
  const url = new URL(to, base);
  const isOurs = url.origin === base && !url.pathname.startsWith('//') && !url.pathname.startsWith('/login');
  return isOurs ? `${url.pathname}${url.search}${url.hash}` : homePath;
}

/** The page that asks for a token. Its form sends the token in a body, never in an address. */
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

/** The page that says why a sign-in at the identity provider failed. `forget` removes the cookie of that sign-in. */
export function failedSignInPage({ code, message }: Problem, forget: string): Response {
  const body = `<main class="card"><h1>Not signed in</h1><p role="alert">${escapeHtml(message)}</p>
<p><a href="/login">Sign in again</a></p></main>`;
  return htmlResponse('Not signed in', body, problemStatus[code], { 'set-cookie': forget });
}
