import type { ChatApp } from '../../channels/chat-app.ts';
import { ProblemError } from '../../core/base/problem.ts';
import type { InteractionHandler } from './handle-interaction.ts';
import { isSignedBySlack } from './signature.ts';
import type { SlackSettings } from './slack-settings.ts';

/** Receives what Slack posts to the gateway: a signed form with the payload as JSON. */
export function httpInteractions(
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
