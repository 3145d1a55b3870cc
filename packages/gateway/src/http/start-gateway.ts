import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkCallOptions, signerNames } from 'countersign/adapter';
import { ProblemError, visibleText } from 'countersign/base';
import type { Channel, ChatApp, PushApp } from 'countersign/channels';
import type { CountersignClient, Signer } from 'countersign/client';
import { slackChat } from './accounts/chat-gateway.ts';
import { createApp } from './create-app.ts';
import type { Authenticator } from './identity/principal.ts';
import type { GatewayContext, KnownWorker } from './gateway-context.ts';
import type { GatewayIdentity } from './identity/identity.ts';
import { createIdentityService, type IdentityService, localAuthenticator } from './identity/identity-service.ts';
import { type GatewayLimits, defaultLimits, senderAddress } from './server/limits.ts';
import { type Site, siteOf } from './site.ts';
import { stopServer, createHttpServer } from './server/http-server.ts';

/** Options of `startGateway`. */
export interface GatewayOptions {
  /** The client for Temporal. `stop` does not close it: the caller does. */
  client: CountersignClient;
  /** The address on which the gateway listens. Default 127.0.0.1. */
  host?: string;
  /** The port on which the gateway listens; 0 takes a free port. Default 7280. */
  port?: number;
  /** The users, as `readIdentityFile` returns them. Absent: every sender is trusted, so loopback is required. */
  identity?: GatewayIdentity;
  /** Authenticates the senders of requests in place of `identity`. */
  authenticator?: Authenticator;
  /** Signs the decisions of authenticated reviewers. Needs `identity` or `authenticator`. */
  signer?: Signer;
  /** Channels whose receivers post their answers to `/channels/NAME/answers/`, by name. Default: none. */
  channels?: Readonly<Record<string, Channel>>;
  /** Receives the answers of Slack users (docs/slack.md). Needs `publicUrl` and `sessionKey` in `identity`. */
  slack?: ChatApp;
  /** Receives browsers' subscriptions to web push (docs/web-push.md). Needs an `identity` for signing in by browser. */
  push?: PushApp;
  /** Origins whose pages may use the API with a bearer token, such as `https://app.example.com`. Default: none. */
  cors?: readonly string[];
  /** How long the inbox delays an approval before it sends it, in milliseconds. Default 5,000. */
  undoMs?: number;
  /**
   * How long the stream of a chat with open requests waits for the other calls of the turn, in milliseconds. Then it
   * ends with the open requests, and the next stream has the other results. Default 5,000.
   */
  chatWaitMs?: number;
  /** The address of Temporal's UI, such as `http://127.0.0.1:8233`, to which the inbox links. Default: no links. */
  temporalUi?: string;
  /**
   * Returns what the worker beside the gateway declares, as in `countersign dev`: `POST /runs` then refuses other
   * agents, and `GET /policy` shows its policy before a run has recorded it. Undefined, the default: not known.
   */
  worker?: () => KnownWorker | undefined;
  /** Limits of the size of a request, and of the requests of one person in a minute. */
  limits?: GatewayLimits;
  /**
   * Trusted proxies, by address or by network such as `10.0.0.0/8`. Rate limits count clients without a valid
   * credential by the address that these proxies write to `X-Forwarded-For`, else by the address of the connection.
   */
  trustedProxies?: readonly string[];
  /** How long `stop` waits for requests in flight, in milliseconds. Default 10,000. */
  stopTimeoutMs?: number;
  /** Writes a line of the log. Default: to standard error. */
  log?: (line: string) => void;
}

const optionNames: Record<keyof GatewayOptions, true> = {
  client: true,
  host: true,
  port: true,
  identity: true,
  authenticator: true,
  signer: true,
  channels: true,
  slack: true,
  push: true,
  cors: true,
  undoMs: true,
  chatWaitMs: true,
  temporalUi: true,
  worker: true,
  limits: true,
  trustedProxies: true,
  stopTimeoutMs: true,
  log: true,
};

const identityNames: Record<keyof GatewayIdentity, true> = {
  publicUrl: true,
  tokens: true,
  oidc: true,
  sessionKey: true,
  linkKey: true,
  sessionMs: true,
};

/** A running gateway. */
export interface Gateway {
  /** The address of the gateway, such as `http://127.0.0.1:7280`. */
  readonly url: string;
  /** Accepts no new request, ends the streams, and waits for the requests and the Slack answers in flight. */
  stop(): Promise<void>;
}

const headersTimeout = 10_000;
const requestTimeout = 30_000;
/** How long an idle connection stays open, in milliseconds: longer than usual proxies try to reuse a connection. */
const keepAliveTimeout = 75_000;
/** The gateway closes a connection that has no traffic for this time. Streams send a heartbeat, so they stay open. */
const stalledTimeout = 300_000;

/**
 * Starts the HTTP gateway (docs/gateway.md). Throws a `ProblemError` if other machines could reach it without
 * authentication, if the address is in use, or if an option is not valid.
 *
 * @example
 * ```ts
 * import { createClient } from 'countersign/client';
 * import { startGateway } from '@countersign/gateway';
 *
 * const client = await createClient();
 * const gateway = await startGateway({ client, port: 0 });
 * const response = await fetch(`${gateway.url}/readyz`);
 * console.log(response.status, await response.json()); // 200 { status: 'ok' }
 * await gateway.stop();
 * await client.close();
 * ```
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  checkNames(options);
  const { client, host = '127.0.0.1', port = 7280, signer, undoMs = 5_000, chatWaitMs = 5_000, temporalUi } = options;
  const stopping = new AbortController();
  const write = options.log ?? ((line: string) => process.stderr.write(`${line}\n`));
  // Errors repeat untrusted texts. These must not move the cursor of a terminal, or look like another line of the log.
  const log = (line: string): unknown => write(visibleText(line, { lines: true }).replaceAll('\n', '\n    '));
  const site = siteOf(host, port, options);
  const { isLoopback } = site;
  const identity =
    options.identity &&
    createIdentityService(options.identity, { isLoopback, namespace: client.session.namespace, log });
  if (options.slack !== undefined) checkSlack(site, identity);
  if (options.push !== undefined) checkPush(options.push, site, identity);
  const context: GatewayContext = {
    client,
    authenticator: options.authenticator ?? identity?.authenticator ?? localAuthenticator(),
    site,
    identity,
    signer,
    channels: options.channels ?? {},
    slack: options.slack,
    push: options.push,
    undoMs,
    chatWaitMs,
    temporalUi,
    worker: options.worker ?? (() => undefined),
    limits: { ...defaultLimits, ...options.limits },
    senderAddress: senderAddress(options.trustedProxies ?? []),
    log,
    stopping: stopping.signal,
  };
  const app = createApp(context);
  const listening = Promise.withResolvers<number>();
  const server = createHttpServer(app.fetch, host, { headersTimeout, requestTimeout, keepAliveTimeout });
  server.listen(port, host, () => listening.resolve((server.address() as AddressInfo).port));
  server.setTimeout(stalledTimeout);
  server.once('error', (error) => listening.reject(notListening(error, host, port)));
  site.port = await listening.promise;
  const slack = slackChat(context);
  const connection = slack && slack.app.connect?.(slack.chat);
  const timeoutMs = options.stopTimeoutMs ?? 10_000;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await Promise.all([connection?.close(), stopServer(server, timeoutMs)]);
    // Slack answers that were acknowledged are sent before `stop` ends, because the caller then closes the client.
    await Promise.race([slack?.app.drain(), sleep(timeoutMs, undefined, { ref: false })]);
  };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${site.port}`,
    stop: () => {
      stopping.abort();
      return (stopped ??= stop());
    },
  };
}

/** Throws for an unknown option. A mistyped `identity`, for example, would leave the gateway without authentication. */
function checkNames(options: GatewayOptions): void {
  checkCallOptions('startGateway', options, optionNames);
  const { limits, identity, signer } = options;
  if (signer !== undefined) checkCallOptions('startGateway: signer', signer, signerNames);
  if (identity !== undefined) checkCallOptions('startGateway: identity', identity, identityNames);
  if (limits === undefined) return;
  checkCallOptions('startGateway: limits', limits, { bodyBytes: true, readsPerMinute: true, writesPerMinute: true });
}

function checkSlack({ publicUrl }: Site, identity: IdentityService | undefined): void {
  if (publicUrl !== undefined && identity?.hasSessionKey === true) return;
  const message = `Slack needs an identity file with 'public_url' and a key of 'sessions': people link their accounts there.`;
  throw new ProblemError({ code: 'arguments_invalid', message });
}

/** Throws if web push cannot work: people subscribe in a signed-in browser, and messages link to the inbox there. */
function checkPush({ gatewayUrl }: PushApp, { publicUrl }: Site, identity: IdentityService | undefined): void {
  if (identity?.canSignIn !== true) {
    const message = 'Web push needs an identity file with which browsers can sign in: people subscribe there.';
    throw new ProblemError({ code: 'arguments_invalid', message });
  }
  if (publicUrl === undefined || publicUrl === gatewayUrl) return;
  const message = `Web push leads to ${gatewayUrl}, and the identity file has the 'public_url' ${publicUrl}: both must be the same.`;
  throw new ProblemError({ code: 'arguments_invalid', message });
}

function notListening(error: Error, host: string, port: number): ProblemError {
  const message = `The gateway cannot listen on ${host}:${port}: ${error.message}. Choose another port with --port; 0 takes a free one.`;
  return new ProblemError({ code: 'internal', message }, { cause: error });
}
