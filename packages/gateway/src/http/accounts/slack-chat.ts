import type { ChatApp, ChatGateway } from 'countersign/channels';
import type { GatewayContext } from '../gateway-context.ts';
import type { IdentityService } from '../identity/identity-service.ts';
import { chatGateway } from './chat-gateway.ts';
import { type LinkedAccounts, linkedAccounts } from './linked-accounts.ts';

/** A chat service at the gateway: its app, and whose its accounts are. */
export interface Chat {
  app: ChatApp;
  accounts: LinkedAccounts;
  chat: ChatGateway;
  identity: IdentityService;
}

/** Slack at the gateway; undefined if it has no Slack app. */
export function slackChat(gateway: GatewayContext): Chat | undefined {
  const { slack: app, identity, site, client } = gateway;
  if (app === undefined || identity === undefined) return undefined;
  const accounts = linkedAccounts({ client, identity }, 'slack');
  return { app, accounts, identity, chat: chatGateway(gateway, accounts, `${site.publicUrl}/slack/link`) };
}
