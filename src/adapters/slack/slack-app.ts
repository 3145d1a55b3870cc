import type { ChatApp } from '../../channels/chat-app.ts';
import { requirePackage } from '../../channels/require-package.ts';
import { interactionHandler } from './handle-interaction.ts';
import { httpInteractions } from './http-interactions.ts';
import type { SlackSettings } from './slack-settings.ts';
import { socketInteractions } from './socket-interactions.ts';

/**
 * Receives what people answer in Slack, for `startGateway`. `entries`: the channels of one or more Slack apps, as
 * `slackChannel` has them. Each app sends over HTTP or over Socket Mode.
 * Throws `policy_invalid` if a package that answers need is not installed.
 */
export function slackApp(entries: readonly SlackSettings[]): ChatApp {
  const handler = interactionHandler();
  requirePackage('@slack/web-api', 'Slack');
  const isHttp = entries.some(({ signingSecret }) => signingSecret !== undefined);
  const isSocket = entries.some(({ appToken }) => appToken !== undefined);
  if (isSocket) requirePackage('@slack/socket-mode', `Slack's Socket Mode`);
  return {
    ...(isHttp && { receive: httpInteractions(entries, handler) }),
    ...(isSocket && { connect: (gateway) => socketInteractions(entries, handler, gateway) }),
    drain: () => handler.drain(),
  };
}
