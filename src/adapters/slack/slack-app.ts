import type { ChatApp } from '../../channels/chat-app.ts';
import { requirePackage } from '../../channels/require-package.ts';
import { interactionHandler, type InteractionHandler } from './handle-interaction.ts';
import type { SlackSettings } from './slack-settings.ts';
import { socketInteractions } from './socket-interactions.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { isSignedBySlack } from './signature.ts';

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

/** Receives what Slack posts to the gateway: a signed form with the payload as JSON. */
function httpInteractions(
  entries: readonly SlackSettings[],
  handler: InteractionHandler,
): NonNullable<ChatApp['receive']> {
  return async (request, gateway) => {
    const signed = entries.filter(
      ({ signingSecret }) => signingSecret !== undefined && isSignedBySlack(request, signingSecret),
    );
    if (signed.length === 0) {
      const message = 'Slack has not signed this, or more than five minutes ago.';
      throw new ProblemError({ code: 'forbidden', message });
    }
    let acknowledgement: object | undefined;
    await handler.handle(payloadOf(request.body), signed, gateway, (body) => {
      acknowledgement = body;
    });
    return acknowledgement === undefined ? new Response(null) : Response.json(acknowledgement);
  };
}

function payloadOf(body: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return JSON.parse(new URLSearchParams(text).get('payload') ?? '');
  } catch {
    return undefined;
  }
}
