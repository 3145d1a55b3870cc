import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatConnection, ChatGateway } from '../../channels/chat-app.ts';
import type { InteractionHandler } from './handle-interaction.ts';
import {
  type Envelope,
  openSocket,
  slackRetryAfterMs,
  type Socket,
  SocketEnded,
  socketProblem,
} from './open-socket.ts';
import type { SlackSettings, SocketListening } from './slack-settings.ts';

type SocketSettings = SlackSettings & SocketListening;

/** The waits between attempts double from the first to the longest. A connection that lasted begins anew. */
const [firstWaitMs, longestWaitMs] = [1_000, 60_000];
const lastedMs = 10_000;

/** Receives what Slack sends over Socket Mode: one connection for each app token, opened again whenever it ends. */
export function socketInteractions(
  entries: readonly SlackSettings[],
  handler: InteractionHandler,
  gateway: ChatGateway,
): ChatConnection {
  const stopping = new AbortController();
  const apps = Map.groupBy(entries.filter(isSocket), ({ appToken, apiUrl = '' }) => `${appToken} ${apiUrl}`);
  const loops = [...apps.values()].map((own) => keepConnected(own, handler, gateway, stopping.signal));
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

/** Never rejects. Ends once `signal` aborts. */
async function keepConnected(
  own: SocketSettings[],
  handler: InteractionHandler,
  gateway: ChatGateway,
  signal: AbortSignal,
): Promise<void> {
  const [settings] = own as [SocketSettings];
  const names = own.map(({ name }) => name).join(', ');
  const onEnvelope = (envelope: Envelope): void => void take(envelope, own, handler, gateway);
  let failures = 0;
  let lastProblem: string | undefined = 'not yet open';
  while (!signal.aborted) {
    let askedMs = 0;
    try {
      const socket = await openSocket(settings, onEnvelope, signal);
      if (lastProblem !== undefined) gateway.log(`Slack's Socket Mode is connected, for ${names}.`);
      lastProblem = undefined;
      const openedMs = performance.now();
      const reason = await untilClosed(socket, signal);
      if (performance.now() - openedMs > lastedMs) failures = 0;
      if (reason !== undefined) throw new SocketEnded(reason);
    } catch (error) {
      if (signal.aborted) return;
      askedMs = slackRetryAfterMs(error);
      const problem = socketProblem(error);
      if (problem !== lastProblem) gateway.log(`Slack's Socket Mode is not connected, for ${names}: ${problem}.`);
      lastProblem = problem;
    }
    // Slack ends each connection after some hours: the next one follows at once.
    const waitMs = failures === 0 ? 0 : Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs);
    failures += 1;
    // Gateways that lost Slack together do not come back together.
    const spreadMs = waitMs * (0.5 + Math.random());
    await sleep(Math.max(spreadMs, askedMs), undefined, { signal }).catch(() => undefined);
  }
}

async function untilClosed(socket: Socket, signal: AbortSignal): Promise<string | undefined> {
  const close = (): void => void socket.close();
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  const reason = await socket.closed;
  signal.removeEventListener('abort', close);
  return reason;
}

async function take(
  { type, body, accepts_response_payload: takesBody, ack }: Envelope,
  own: SocketSettings[],
  handler: InteractionHandler,
  gateway: ChatGateway,
): Promise<void> {
  // Other kinds are acknowledged, so that Slack does not send them again.
  if (type !== 'interactive') return ack().catch(() => undefined);
  return handler.handle(body, own, gateway, async (acknowledgement) => {
    if (acknowledgement === undefined) return ack();
    if (takesBody !== true) throw new Error('Slack takes no body here');
    return ack(acknowledgement);
  });
}

function isSocket(settings: SlackSettings): settings is SocketSettings {
  return settings.appToken !== undefined;
}
