import type { GatewayContext } from '../gateway-context.ts';
import { type Chat, chatGateway } from './chat-gateway.ts';
import { linkedAccounts } from './linked-accounts.ts';

/** Slack at the gateway; undefined if it has no Slack app. */
export function slackChat(gateway: GatewayContext): Chat | undefined {
  const { slack: app, identity, site, client } = gateway;
  if (app === undefined || identity === undefined) return undefined;
  const accounts = linkedAccounts({ client, identity }, 'slack');
  return { app, accounts, identity, chat: chatGateway(gateway, accounts, `${site.publicUrl}/slack/link`) };
}
