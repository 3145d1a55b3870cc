import { OpenAPIHono, z } from '@hono/zod-openapi';
import { ProblemError, visibleText } from 'countersign/base';
import type { ChatAccount } from 'countersign/channels';
import { escapeHtml } from 'countersign/card';
import { type Chat, slackChat, linkDays } from '../accounts/chat-gateway.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { wantsHtml, htmlResponse } from '../responses.ts';
import { asPage } from '../links/link-page.ts';
import { requirePrincipal, type Principal } from '../identity/principal.ts';
import * as answers from '../shapes/response-shapes.ts';

const state = z.string().max(4_000);
const accountForm = z.strictObject({ team: z.string().max(100), user: z.string().max(100) });
const form = <Schema extends z.ZodType>(schema: Schema) => ({
  body: { required: true, content: { 'application/x-www-form-urlencoded': { schema } } },
});

const interactions = defineRoute('POST /slack/interactions', {
  summary: 'A pressed button in Slack, signed by Slack',
  responses: { 200: { description: 'Taken' } },
});
const show = defineRoute('GET /slack/link', {
  summary: 'The page on which you link a Slack account to yourself; without `state`, your accounts',
  request: { query: z.strictObject({ state: state.optional() }) },
  responses: { 200: answers.page('A page'), 303: { description: 'On to the page that signs in' } },
});
const link = defineRoute('POST /slack/link', {
  summary: 'Link a Slack account to yourself',
  request: form(z.strictObject({ state })),
  responses: { 200: answers.page('A page') },
});
const unlink = defineRoute('POST /slack/unlink', {
  summary: 'Unlink one of your Slack accounts',
  request: form(accountForm),
  responses: { 200: answers.page('A page') },
});

/** The routes for Slack: answers by buttons, and the pages on which people link and unlink their Slack accounts. */
export function slackRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const slack = slackChat(gateway);
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput() })
    .openapi(interactions, async ({ req }) => {
      const { app, chat } = requireSlack(slack);
      if (app.receive === undefined) {
        const message = 'This gateway gets answers from Slack over Socket Mode, and none here.';
        throw new ProblemError({ code: 'forbidden', message });
      }
      return app.receive({ headers: req.raw.headers, body: new Uint8Array(await req.arrayBuffer()) }, chat);
    })
    .openapi(show, (context) =>
      asLinkPage(context.req.raw, async () => {
        const { accounts, identity } = requireSlack(slack);
        const { state: invitation } = context.req.valid('query');
        const principal = context.get('principal');
        if (principal === undefined && identity.canSignIn && wantsHtml(context.req.raw)) {
          const { pathname, search } = new URL(context.req.url);
          return context.redirect(`/login?to=${encodeURIComponent(pathname + search)}`, 303);
        }
        const person = requirePrincipal(context.var);
        if (invitation === undefined) return accountsPage(await accounts.of(person), person);
        const account = await accounts.invited(invitation);
        return confirmPage(account, person, invitation, await accounts.personOf(account));
      }),
    )
    .openapi(link, (context) =>
      asLinkPage(context.req.raw, async () => {
        const { accounts, identity } = requireSlack(slack);
        const person = requirePrincipal(context.var);
        const account = await accounts.invited(context.req.valid('form').state);
        const credential = await identity.sessions.credentialOf(context.req.raw);
        if (credential === undefined || person.via !== 'session') {
          const message = 'A Slack account is linked in a browser: sign in there.';
          throw new ProblemError({ code: 'forbidden', message });
        }
        await accounts.link(account, credential);
        gateway.log(`${person.id} linked Slack account ${account.user} of workspace ${account.team}.`);
        const linked = `${accountText(account)} now answers as ${isolatedHtml(person.id)}.`;
        return changedPage('The account is linked', `${linked} Go back to Slack and press the button again.`);
      }),
    )
    .openapi(unlink, (context) =>
      asLinkPage(context.req.raw, async () => {
        const { accounts } = requireSlack(slack);
        const person = requirePrincipal(context.var);
        const account = context.req.valid('form');
        const wasLinked = await accounts.unlink(account, person);
        if (wasLinked) gateway.log(`${person.id} unlinked Slack account ${account.user} of workspace ${account.team}.`);
        return wasLinked
          ? changedPage('The account is unlinked', 'Its answers in Slack no longer count.')
          : changedPage('Nothing was linked', 'This Slack account does not answer in your name.', 404);
      }),
    );
}

function requireSlack(slack: Chat | undefined): Chat {
  if (slack !== undefined) return slack;
  throw new ProblemError({ code: 'forbidden', message: 'This gateway has no Slack app: see docs/slack.md.' });
}

function asLinkPage(request: Request, answerWith: () => Promise<Response>): Promise<Response> {
  return asPage(request, answerWith, 'Nothing was changed');
}

/** The page that asks a signed-in person whether a Slack account is theirs, and names who has linked it so far. */
function confirmPage(account: ChatAccount, person: Principal, invitation: string, linker?: Principal): Response {
  const earlier =
    linker === undefined || linker.id === person.id ? '' : `<p>So far it answers as ${isolatedHtml(linker.id)}.</p>\n`;
  const body = `<main class="card"><h1>Answer requests in Slack?</h1>
<p>You are signed in as ${isolatedHtml(person.id)}. From now on, for ${linkDays} days, what the Slack account
${accountText(account)} answers counts as your answer.</p>
${earlier}<p role="alert">Confirm this only if that account is yours and you have just pressed a button in Slack. Otherwise the sender of this
address wants to answer in your name.</p>
<form method="post" action="/slack/link">
<input type="hidden" name="state" value="${escapeHtml(invitation)}">
<div class="answers"><button>This account is mine</button></div>
</form></main>`;
  return htmlResponse('Answer requests in Slack?', body);
}

function changedPage(heading: string, sentenceHtml: string, status = 200): Response {
  const body = `<main class="card"><h1>${heading}</h1><p role="status">${sentenceHtml}</p>
<p><a href="/slack/link">Your Slack accounts</a></p></main>`;
  return htmlResponse(heading, body, status);
}

/** The page with the accounts that answer as a person, each with a button that unlinks it. */
function accountsPage(accounts: readonly ChatAccount[], person: Principal): Response {
  const rows = accounts.map(
    (account) => `<form method="post" action="/slack/unlink">
<input type="hidden" name="team" value="${escapeHtml(account.team)}"><input type="hidden" name="user" value="${escapeHtml(account.user)}">
<p>${accountText(account)}</p><div class="answers"><button>Unlink</button></div></form>`,
  );
  const none = '<p>None. To link yours, press a button of a request in Slack.</p>';
  const body = `<main class="card"><h1>Slack accounts of ${isolatedHtml(person.id)}</h1>
${rows.length === 0 ? none : rows.join('\n')}</main>`;
  return htmlResponse('Your Slack accounts', body);
}

function accountText({ team, user, name }: ChatAccount): string {
  return `${isolatedHtml(`@${name}`)} (user ${isolatedHtml(user)} of workspace ${isolatedHtml(team)})`;
}

function isolatedHtml(text: string): string {
  return `<bdi>${escapeHtml(visibleText(text))}</bdi>`;
}
