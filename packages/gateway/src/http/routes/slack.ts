import { OpenAPIHono, z } from '@hono/zod-openapi';
import { ProblemError } from 'countersign/base';
import { accountsPage, confirmPage, linkedPage, unlinkedPage } from '../accounts/account-pages.ts';
import type { Chat } from '../accounts/chat-gateway.ts';
import { slackChat } from '../accounts/slack-chat.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { wantsHtml } from '../responses/html-response.ts';
import { asPage } from '../links/link-page.ts';
import { requirePrincipal } from '../identity/principal.ts';
import { page } from '../shapes/response-shapes.ts';

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
  responses: { 200: page('A page'), 303: { description: 'On to the page that signs in' } },
});
const link = defineRoute('POST /slack/link', {
  summary: 'Link a Slack account to yourself',
  request: form(z.strictObject({ state })),
  responses: { 200: page('A page') },
});
const unlink = defineRoute('POST /slack/unlink', {
  summary: 'Unlink one of your Slack accounts',
  request: form(accountForm),
  responses: { 200: page('A page') },
});

/** Slack: the answers of its users, and the links of its accounts. */
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
        return linkedPage(account, person);
      }),
    )
    .openapi(unlink, (context) =>
      asLinkPage(context.req.raw, async () => {
        const { accounts } = requireSlack(slack);
        const person = requirePrincipal(context.var);
        const account = context.req.valid('form');
        const wasLinked = await accounts.unlink(account, person);
        if (wasLinked) gateway.log(`${person.id} unlinked Slack account ${account.user} of workspace ${account.team}.`);
        return unlinkedPage(wasLinked);
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
