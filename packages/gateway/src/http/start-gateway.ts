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
  /** The caller closes it. */
  client: CountersignClient;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 7280; 0 takes a free one. */
  port?: number;
  /** As of `readIdentityFile`. Default: every sender is the user who started the gateway, on loopback only. */
  identity?: GatewayIdentity;
  /** Authenticates senders, in place of `identity`. */
  authenticator?: Authenticator;
  /** Signs the decisions of authenticated reviewers; needs `identity` or `authenticator`. */
  signer?: Signer;
  /** Channels whose receivers post their answers to `/channels/NAME/answers/`, by name. Default: none. */
  channels?: Readonly<Record<string, Channel>>;
  /** Receives the answers of Slack users (docs/slack.md). Needs `public_url` and a key of `sessions` in `identity`. */
  slack?: ChatApp;
  /** Receives browsers' subscriptions (docs/web-push.md). Needs an `identity` with which browsers can sign in. */
  push?: PushApp;
  /** Origins whose pages may use the API with a bearer token, such as `https://app.example.com`. Default: none. */
  cors?: readonly string[];
  /** How long the inbox delays an approval before it sends it, in milliseconds. Default 5,000. */
  undoMs?: number;
  /** How long a chat's stream with open requests waits for other calls of the turn, in milliseconds. Default 5,000. */
  chatWaitMs?: number;
  /** The address of Temporal's UI, such as `http://127.0.0.1:8233`. */
  temporalUi?: string;
  /**
   * What the worker beside the gateway declares now, as in `countersign dev`: `POST /runs` refuses other agents, and
   * `GET /policy` shows its policy before a run has recorded it. Undefined, and by default: not known.
   */
  worker?: () => KnownWorker | undefined;
  /** The quota of one person. */
  limits?: GatewayLimits;
  /** Addresses or networks, such as `10.0.0.0/8`, of proxies whose `X-Forwarded-For` rate limits use. Default: none. */
  trustedProxies?: readonly string[];
  /** How long `stop` waits for requests in flight, in milliseconds. Default 10,000. */
  stopTimeoutMs?: number;
  /** Default: standard error. */
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

/** A gateway that listens. */
export interface Gateway {
  /** Such as `http://127.0.0.1:7280`. */
  readonly url: string;
  /** Accepts no new request, ends the streams, and waits for the requests and the Slack answers in flight. */
  stop(): Promise<void>;
}

const headersTimeout = 10_000;
const requestTimeout = 30_000;
/** In milliseconds. Proxies close idle connections after a minute: a gateway that closed first would break requests. */
const keepAliveTimeout = 75_000;
/** A connection without traffic in either direction for this time is cut; streams have a heartbeat. */
const stalledTimeout = 300_000;

/**
 * Starts the HTTP gateway (docs/gateway.md). Throws a `ProblemError` for an address that others can reach without
 * authentication, and for one in use.
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
  // Errors repeat untrusted texts, which must not move the cursor of a terminal, or look like another line of the log.
  const log = (line: string): unknown => write(visibleText(line, { lines: true }).replaceAll('\n', '\n    '));
  const site = siteOf(host, port, options);
  const { isLoopback } = site;
  const identity =
    options.identity &&
    createIdentityService(options.identity, { isLoopback, namespace: client.session.namespace, log });
  if (options.slack !== undefined && (site.publicUrl === undefined || identity?.hasSessionKey !== true)) {
    const message = `Slack needs an identity file with 'public_url' and a key of 'sessions': people link their accounts there.`;
    throw new ProblemError({ code: 'arguments_invalid', message });
  }
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
    // Acknowledged answers finish: the caller closes the client after this.
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

/** A mistyped `identity` would leave the gateway without authentication. */
function checkNames(options: GatewayOptions): void {
  checkCallOptions('startGateway', options, optionNames);
  const { limits, identity, signer } = options;
  if (signer !== undefined) checkCallOptions('startGateway: signer', signer, signerNames);
  if (identity !== undefined) checkCallOptions('startGateway: identity', identity, identityNames);
  if (limits === undefined) return;
  checkCallOptions('startGateway: limits', limits, { bodyBytes: true, readsPerMinute: true, writesPerMinute: true });
}

/** Users subscribe in browsers, and the links of messages must lead to the inbox that they use. */
function checkPush({ gatewayUrl }: PushApp, { publicUrl }: Site, identity: IdentityService | undefined): void {
  const message =
    identity?.canSignIn !== true
      ? 'Web push needs an identity file with which browsers can sign in: people subscribe there.'
      : publicUrl !== undefined && publicUrl !== gatewayUrl
        ? `Web push leads to ${gatewayUrl}, and the identity file has the 'public_url' ${publicUrl}: both must be the same.`
        : undefined;
  if (message !== undefined) throw new ProblemError({ code: 'arguments_invalid', message });
}

function notListening(error: Error, host: string, port: number): ProblemError {
  const message = `The gateway cannot listen on ${host}:${port}: ${error.message}. Choose another port with --port; 0 takes a free one.`;
  return new ProblemError({ code: 'internal', message }, { cause: error });
}
