import type { SocketModeClient } from '@slack/socket-mode';
import { errorText } from '../../channels/outgoing/not-taken.ts';
import { refusalCode } from './slack-api.ts';
import type { SlackSettings, SocketListening } from './slack-settings.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatConnection, ChatGateway } from '../../channels/chat-app.ts';
import type { InteractionHandler } from './answer.ts';

export interface Envelope {
  type: string;
  body: unknown;
  /** True if the acknowledgement may have a body. */
  accepts_response_payload?: boolean;
  /** Rejects if the connection is lost. */
  ack: (body?: object) => Promise<void>;
}

export interface Socket {
  /** Resolves when the connection ends, with the reason if that needs an operator. */
  readonly closed: Promise<string | undefined>;
  close(): Promise<void>;
}

/** The time limits for opening a connection and for ending one, in milliseconds. */
const openMs = 10_000;
const closeMs = 500;

/**
 * Opens a connection that does not reconnect by itself. A reconnection by the package would miss messages for five
 * seconds at each refresh, and one of its errors would end the process.
 */
export async function openSocket(
  { appToken, apiUrl }: Pick<SlackSettings & SocketListening, 'appToken' | 'apiUrl'>,
  onEnvelope: (envelope: Envelope) => void,
  signal: AbortSignal,
): Promise<Socket> {
  const { SocketModeClient: Client } = await import('@slack/socket-mode');
  signal.throwIfAborted();
  const aborting = new AbortController();
  const client = new Client({
    appToken,
    autoReconnectEnabled: false,
    logger: silent as unknown as NonNullable<ConstructorParameters<typeof SocketModeClient>[0]>['logger'],
    clientOptions: {
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      fetch: (url, init = {}) =>
        fetch(url, { ...init, signal: AbortSignal.any([aborting.signal, ...(init.signal ? [init.signal] : [])]) }),
      ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
    },
  });
  const closed = Promise.withResolvers<string | undefined>();
  let reason: string | undefined;
  // The package ends the connection after an error. Without a listener, the event would also end the process.
  client.on('error', () => undefined);
  client.on('ws_message', (data: unknown) => {
    reason ??= endReason(data);
  });
  client.on('slack_event', onEnvelope);
  client.on('disconnected', () => closed.resolve(reason));
  const close = async (): Promise<void> => {
    aborting.abort();
    // The first call sends a close frame; a later one ends a connection whose other side has not answered it.
    void client.disconnect().catch(() => undefined);
    const late = setTimeout(() => void client.disconnect().catch(() => undefined), closeMs);
    await closed.promise;
    clearTimeout(late);
  };
  const starting = client.start();
  try {
    await openedInTime(starting, signal);
  } catch (error) {
    // Close a connection that opens after all, because it would receive clicks.
    starting.then(close, () => undefined);
    await close();
    throw error instanceof Error ? error : new Error('Slack closed the connection before it was open');
  }
  return { closed: closed.promise, close };
}

/** Awaits the start of a connection. Rejects if it takes over `openMs`, or if `signal` aborts. */
async function openedInTime(starting: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(openMs)]);
  const stopped = Promise.withResolvers<never>();
  const onLate = (): void => stopped.reject(new Error('Slack did not open the connection in time'));
  late.addEventListener('abort', onLate);
  try {
    await Promise.race([starting, stopped.promise]);
  } finally {
    late.removeEventListener('abort', onLate);
    // Without this handler, a rejection after the race would be unhandled.
    stopped.promise.catch(() => undefined);
  }
}

/** The error for a connection that Slack has ended for a reason that needs an operator. The message is the reason. */
export class SocketEnded extends Error {}

const remedies: Record<string, string> = {
  invalid_auth: 'check the app-level token',
  not_authed: 'check the app-level token',
  token_revoked: 'make another app-level token',
  account_inactive: 'install the app again, and make another app-level token',
  not_allowed_token_type: 'use an app-level token (xapp-…), not the bot token',
  missing_scope: 'give the app-level token the scope connections:write',
  link_disabled: 'enable Socket Mode in the settings of the app',
};

/** Returns why there is no connection, and a remedy where one is known. No error of Slack contains the token. */
export function socketProblem(error: unknown): string {
  const code = error instanceof SocketEnded ? error.message : refusalCode(error);
  const why = code ?? errorText(error).replace(/\.$/, '');
  const remedy = remedies[code ?? ''];
  return remedy === undefined ? why : `${why}; ${remedy}`;
}

export function slackRetryAfterMs(error: unknown): number {
  const { retryAfter } = error as { retryAfter?: unknown };
  return typeof retryAfter === 'number' ? retryAfter * 1_000 : 0;
}

/** Reads the reason of a `disconnect` message if the reason needs an operator; undefined for all else. */
function endReason(data: unknown): string | undefined {
  try {
    const { type, reason } = JSON.parse(String(data)) as { type?: unknown; reason?: unknown };
    return type === 'disconnect' && reason === 'link_disabled' ? reason : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A logger that writes nothing, because log lines of `@slack/socket-mode` may contain texts of people. The log is not
 * needed, because `start` rejects if there is no connection.
 */
const silent = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  setLevel: ignore,
  setName: ignore,
  getLevel: (): string => 'error',
};

function ignore(): void {}

type SocketSettings = SlackSettings & SocketListening;

/** The waits between attempts double from the first to the longest. A connection of at least `lastedMs` resets them. */
const [firstWaitMs, longestWaitMs] = [1_000, 60_000];
const lastedMs = 10_000;

/** Receives Slack's messages over Socket Mode, by one connection for each app token, reopened whenever it ends. */
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

/** Keeps a connection open for the channels of an app token, until `signal` aborts. Never rejects. */
async function keepConnected(
  own: SocketSettings[],
  handler: InteractionHandler,
  gateway: ChatGateway,
  signal: AbortSignal,
): Promise<void> {
  const [settings] = own as [SocketSettings];
  const names = own.map(({ name }) => name).join(', ');
  const onEnvelope = (envelope: Envelope): void => void handleEnvelope(envelope, own, handler, gateway);
  let attempts = 0;
  // Not undefined, so that the first connection appears in the log, too.
  let lastProblem: string | undefined = 'not yet open';
  while (!signal.aborted) {
    let slackWaitMs = 0;
    try {
      const socket = await openSocket(settings, onEnvelope, signal);
      if (lastProblem !== undefined) gateway.log(`Slack's Socket Mode is connected, for ${names}.`);
      lastProblem = undefined;
      const openedMs = performance.now();
      const reason = await untilClosed(socket, signal);
      if (performance.now() - openedMs > lastedMs) attempts = 0;
      if (reason !== undefined) throw new SocketEnded(reason);
    } catch (error) {
      if (signal.aborted) return;
      slackWaitMs = slackRetryAfterMs(error);
      const problem = socketProblem(error);
      if (problem !== lastProblem) gateway.log(`Slack's Socket Mode is not connected, for ${names}: ${problem}.`);
      lastProblem = problem;
    }
    await sleep(Math.max(waitMsAfter(attempts), slackWaitMs), undefined, { signal }).catch(() => undefined);
    attempts += 1;
  }
}

function waitMsAfter(attempts: number): number {
  // The first retry after a lasting connection does not wait, because Slack ends each connection after some hours.
  if (attempts === 0) return 0;
  // Vary the wait, so that gateways that lost Slack together do not reconnect together.
  return Math.min(firstWaitMs * 2 ** (attempts - 1), longestWaitMs) * (0.5 + Math.random());
}

/** Awaits the end of a connection, or ends it if `signal` aborts. Returns the reason if that needs an operator. */
async function untilClosed(socket: Socket, signal: AbortSignal): Promise<string | undefined> {
  const close = (): void => void socket.close();
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  const reason = await socket.closed;
  signal.removeEventListener('abort', close);
  return reason;
}

/** Handles a message of Slack. Acknowledges each, so that Slack does not send it again. */
async function handleEnvelope(
  { type, body, accepts_response_payload: takesBody, ack }: Envelope,
  own: SocketSettings[],
  handler: InteractionHandler,
  gateway: ChatGateway,
): Promise<void> {
  if (type !== 'interactive') return ack().catch(() => undefined);
  return handler.handle(body, own, gateway, async (acknowledgement) => {
    if (acknowledgement === undefined) return ack();
    // This error makes the handler send the reply to the person as a message instead.
    if (takesBody !== true) throw new Error('Slack takes no body here');
    return ack(acknowledgement);
  });
}

function isSocket(settings: SlackSettings): settings is SocketSettings {
  return settings.appToken !== undefined;
}
