import type { ChatApp, ChatGateway } from 'countersign/channels';
import { requireGated } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import type { Decision } from 'countersign/client';
import type { GatewayContext } from '../gateway-context.ts';
import type { IdentityService } from '../identity/identity-service.ts';
import { type LinkedAccounts, linkedAccounts } from './linked-accounts.ts';
import { idempotencyKeyOf } from '../shapes/input-shapes.ts';
import { isPermitted, permissions, type Principal } from '../identity/principal.ts';
import { decideAs } from '../send-as.ts';

/** A chat service at the gateway: its app, and the links of its accounts. */
export interface Chat {
  app: ChatApp;
  accounts: LinkedAccounts;
  chat: ChatGateway;
  identity: IdentityService;
}

/** The gateway for a chat app: its users answer as the people who have linked their accounts. */
function chatGateway(gateway: GatewayContext, accounts: LinkedAccounts, linkPage: string): ChatGateway {
  const { client, log } = gateway;
  return {
    log,
    personOf: async (account) => {
      const person = await accounts.personOf(account);
      return (
        person && { id: person.id, decide: (workflowId, decision) => answerAs(gateway, person, workflowId, decision) }
      );
    },
    linkUrl: async (account) => `${linkPage}?state=${await accounts.invite(account)}`,
    request: async (workflowId, requestId) => {
      await requireGated(client.session, workflowId);
      return client.approvals.get(requestId, { workflowId });
    },
  };
}

/** As `POST /approve/{requestId}` does for a signed-in person. */
async function answerAs(
  gateway: GatewayContext,
  person: Principal,
  workflowId: string,
  { decisionId, ...answer }: Omit<Decision, 'reviewerId'>,
) {
  if (!isPermitted(permissions['POST /approve/{requestId}'], person.roles)) {
    throw new ProblemError({ code: 'forbidden', message: `${person.id} does not have the role reviewer.` });
  }
  await requireGated(gateway.client.session, workflowId);
  const decision = { ...answer, reviewerId: person.id, decisionId: idempotencyKeyOf(person, undefined, decisionId) };
  return decideAs(gateway, person, decision, workflowId);
}

/** Slack at the gateway; undefined if it has no Slack app. */
export function slackChat(gateway: GatewayContext): Chat | undefined {
  const { slack: app, identity, site, client } = gateway;
  if (app === undefined || identity === undefined) return undefined;
  const accounts = linkedAccounts({ client, identity }, 'slack');
  return { app, accounts, identity, chat: chatGateway(gateway, accounts, `${site.publicUrl}/slack/link`) };
}
