import { exchange, refusedStatus } from '../../channels/outgoing/exchange.ts';
import { isProblemError, ProblemError } from '../../core/base/problem.ts';
import type { Delivery, PushMessage } from './push-message.ts';
import { askingMessage, callerMessage, deliveryOf, settledMessage } from './push-message.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';
import { subscriptionMark, subscriptionsOf, audienceOf, browsersOfCaller, reachedBefore } from './subscriptions.ts';
import { type WebPushSettings, type WebPushOptions, webPushSettings } from './web-push-settings.ts';
import { isIP } from 'node:net';
import { ECDH } from 'node:crypto';
import type { CallerNotices, Channel, ChannelRequest, NotifyContext, SettledContext } from '../../channels/channel.ts';
import { testText } from '../../channels/channel.ts';
import { hostOf } from '../../channels/outgoing/address-filter.ts';
import type { BrowserSubscription, PushApp } from '../../channels/chat-app.ts';
import { PartlySent } from '../../channels/outgoing/not-taken.ts';
import { recentIds } from '../../channels/channel-answer.ts';
import type { ChannelKind } from '../../channels/channel-kind.ts';
import { requirePackage, policyInvalid, readPem, readSecret, secretShape } from '../../channels/channel-kind.ts';
import { inParallel } from '../../client/server/session.ts';
import type { Records } from '../../client/server/records.ts';
import { isObject } from '../../core/base/json.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { checkCallers, callersOptions } from '../../channels/caller-notice.ts';
import { z } from 'zod';

const goneStatuses = [404, 410];

/**
 * Sends a message, encrypted for the browser and signed with the push keys. Returns `gone` if the subscription has
 * ended. Throws a `ProblemError`, without the path of the push service, if a retry may help.
 */
export async function sendMessage(
  { subject, publicKey, privateKey, agents, requestTimeoutMs }: WebPushSettings,
  { endpoint, keys }: Subscription,
  { message, ttl, urgency, topic }: Delivery & { message: PushMessage },
  signal: AbortSignal,
): Promise<'taken' | 'gone'> {
  const { default: webPush } = await import('web-push');
  const url = new URL(endpoint);
  // The gateway stores only https URLs, so treat any other URL as a subscription that has ended.
  if (url.protocol !== 'https:') return 'gone';
  const { headers, body } = webPush.generateRequestDetails({ endpoint, keys }, JSON.stringify(message), {
    vapidDetails: { subject, publicKey, privateKey },
    contentEncoding: 'aes128gcm',
    TTL: ttl,
    urgency,
    topic,
  });
  const outgoing = { method: 'POST', url, headers: withoutLength(headers), body, signal };
  const answer = await exchange(outgoing, agents, requestTimeoutMs).catch((error: unknown) => {
    // `exchange` refuses addresses that the channel must not reach, before it sends anything.
    if (isProblemError(error) && error.code === 'forbidden') return undefined;
    throw error;
  });
  if (answer === undefined || goneStatuses.includes(answer.status)) return 'gone';
  if (answer.status >= 200 && answer.status < 300) return 'taken';
  throw refusedStatus(url, answer);
}

/** Removes the header `content-length`, which `exchange` adds. */
function withoutLength(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length');
  return Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

const settingsOf = new WeakMap<Channel, WebPushSettings>();

const sendsAtOnce = 8;
const mostMarks = 240;

/**
 * Creates a channel that sends a short message to the browsers of the reviewers, also while no inbox is open
 * (docs/web-push.md). It has no `resolve`, because people answer in the inbox. Throws `policy_invalid` for options that
 * cannot work, and a `DefinitionError` for an unknown option. Needs the package `web-push`.
 *
 * @example See {@link readChannels}, which makes it from a file.
 */
export function webPushChannel(options: WebPushOptions): Channel {
  const settings = webPushSettings(options);
  const { origin } = settings;
  const { callers } = options;
  checkCallers('webPushChannel', callers);
  const sentIds = recentIds();

  /** Sends a message to all browsers. Removes ended subscriptions. If `failure` is set, a retry may reach more. */
  async function sendAll(
    audience: readonly Subscription[],
    subscriptions: Subscriptions,
    { key, signal }: Pick<NotifyContext, 'key' | 'signal'>,
    push: Delivery & { message: PushMessage },
  ): Promise<{ marks: string[]; failed: number; failure?: Error }> {
    const gone: Subscription[] = [];
    const failures: Error[] = [];
    const reached = await inParallel(audience, sendsAtOnce, async (subscription) => {
      const id = `${key} ${subscription.endpoint}`;
      try {
        signal.throwIfAborted();
        // A browser that got the message from an earlier attempt counts as reached.
        if (!sentIds.has(id) && (await sendMessage(settings, subscription, push, signal)) === 'gone') {
          gone.push(subscription);
          return [];
        }
        sentIds.add(id);
        return [subscriptionMark(subscription)];
      } catch (error) {
        failures.push(error as Error);
        return [];
      }
    });
    for (const person of new Set(gone.map((each) => each.person))) {
      const endpoints = gone.filter((each) => each.person === person).map(({ endpoint }) => endpoint);
      await subscriptions.remove(person, endpoints);
    }
    const marks = reached.flat();
    signal.throwIfAborted();
    return { marks, failed: failures.length, failure: failures[0] };
  }

  /** Sends a message about an open request. Returns the marks of all browsers that have it by now. */
  async function ask(
    request: ChannelRequest,
    audience: readonly Subscription[],
    subscriptions: Subscriptions,
    context: NotifyContext,
    message: PushMessage,
  ): Promise<Json> {
    const push = { message, ...deliveryOf(request, false) };
    const { marks, failed, failure } = await sendAll(audience, subscriptions, context, push);
    const reached = [...new Set([...marksOf(context.sent), ...marks])].slice(-mostMarks);
    // A retry in another process also sends the message to browsers that have it. They show it only once, by its `key`.
    if (failure !== undefined) throw marks.length === 0 ? failure : new PartlySent({ reached, failed }, failure);
    return { reached, failed };
  }

  /** Sends a message about a settled request. Throws if a browser was not reached, to have the call retried. */
  async function close(
    request: ChannelRequest,
    audience: readonly Subscription[],
    subscriptions: Subscriptions,
    context: SettledContext,
    message: PushMessage,
  ): Promise<void> {
    const push = { message, ...deliveryOf(request, true) };
    const { marks, failure } = await sendAll(audience, subscriptions, context, push);
    // The last attempt in a row counts as a success if it reached one browser: otherwise attempts go on for days.
    const isEnough = context.isLastAttempt === true && marks.length > 0;
    if (failure !== undefined && !isEnough) throw failure;
  }

  /**
   * Returns the browsers of the caller. None if one of these browsers gets the message to the reviewers, because one
   * message to a person is enough. With `callers: 'only'`, there is no message to the reviewers.
   */
  async function browsersToNotify(request: ChannelRequest, subscriptions: Subscriptions): Promise<Subscription[]> {
    const own = await browsersOfCaller(request, subscriptions);
    if (callers === 'only' || own.length === 0) return own;
    // Ignore an error here, because the message to the reviewers fails with it, too.
    const asked = await audienceOf(request, { kind: 'asked' }, subscriptions).catch((): Subscription[] => []);
    return asked.some(({ endpoint }) => own.some((each) => each.endpoint === endpoint)) ? [] : own;
  }

  const toCallers: CallerNotices = {
    notify: async (request, context) => {
      // The request may have been settled before this attempt.
      if (request.settled !== undefined) return context.sent;
      const subscriptions = subscriptionsOf(settings, requireRecords(context.records));
      const browsers = await browsersToNotify(request, subscriptions);
      const message = callerMessage(request, undefined, { origin, key: context.key });
      return ask(request, browsers, subscriptions, context, message);
    },
    settled: async (request, settlement, context) => {
      const { key, sent, records } = context;
      const subscriptions = subscriptionsOf(settings, requireRecords(records));
      // Without `sent`, the first message failed but may have reached the caller: send the outcome anyway.
      const browsers =
        sent === undefined
          ? await browsersToNotify(request, subscriptions)
          : await reachedBefore(request, marksOf(sent), subscriptions);
      await close(request, browsers, subscriptions, context, callerMessage(request, settlement, { origin, key }));
    },
  };

  const toReviewers: Pick<Channel, 'notify' | 'settled'> = {
    notify: async (request, context) => {
      const subscriptions = subscriptionsOf(settings, requireRecords(context.records));
      const audience = await audienceOf(request, context.step, subscriptions);
      const message = askingMessage(request, context.step, { origin, key: context.key });
      return ask(request, audience, subscriptions, context, message);
    },
    settled: async (request, settlement, context) => {
      const subscriptions = subscriptionsOf(settings, requireRecords(context.records));
      const audience = await reachedBefore(request, marksOf(context.sent), subscriptions);
      const message = settledMessage(request, settlement, { origin, key: context.key });
      await close(request, audience, subscriptions, context, message);
    },
  };

  const channel: Channel = {
    check: () => requirePackage('web-push', 'Web push'),
    test: async ({ key, records, signal }) => {
      const subscriptions = subscriptionsOf(settings, await records());
      const all = await subscriptions.all();
      if (all.length === 0) {
        throw policyInvalid(
          `No browser has subscribed: open ${origin}/inbox/ and switch notifications on in its settings.`,
        );
      }
      const words = { title: 'Test of Countersign', body: testText, tag: 'countersign-test' };
      const message = { ...words, url: `${origin}/inbox/`, key };
      const push = { message, ttl: 60, urgency: 'normal', topic: 'countersign-test' } as const;
      const { marks, failed } = await sendAll(all, subscriptions, { key, signal }, push);
      if (marks.length === 0) throw policyInvalid('No browser is subscribed any more: switch notifications on again.');
      return `a notification to ${marks.length} of ${all.length} browsers${failed === 0 ? '' : `; ${failed} push services failed`}`;
    },
    ...(callers !== 'only' && toReviewers),
    ...(callers !== undefined && { caller: toCallers }),
  };
  settingsOf.set(channel, settings);
  return channel;
}

/**
 * Returns the app that receives subscriptions, for `startGateway`. Undefined if no channel is web push. Throws a
 * `ProblemError` (`policy_invalid`) if several are, because a browser subscribes to only one.
 *
 * @example
 * ```ts
 * import { pushAppOf, readChannels } from 'countersign/channels';
 *
 * const { channels } = await readChannels('channels: { ci: { kind: auto_deny } }');
 * console.log(pushAppOf(channels)); // undefined
 * ```
 */
export function pushAppOf(channels: Readonly<Record<string, Channel>>): PushApp | undefined {
  const [settings, ...others] = Object.values(channels).flatMap((channel) => settingsOf.get(channel) ?? []);
  if (settings === undefined) return undefined;
  if (others.length > 0) {
    throw policyInvalid('Several channels are web push, and a browser subscribes to one: keep one of them.');
  }
  return {
    publicKey: settings.publicKey,
    gatewayUrl: settings.origin,
    subscribe: async (person, subscription, records) =>
      subscriptionsOf(settings, records).add(person, checkedSubscription(subscription, settings)),
    unsubscribe: (person, endpoint, records) => subscriptionsOf(settings, records).remove(person.id, [endpoint]),
  };
}

/** Returns the subscription, or throws if no message may be sent to it. Each connection checks a name's address. */
function checkedSubscription(subscription: BrowserSubscription, { filter }: WebPushSettings): BrowserSubscription {
  const { endpoint, keys } = subscription;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalidSubscription('The endpoint must be an https URL without a name, a password or a fragment in it.');
  }
  const host = hostOf(url);
  if (isIP(host) !== 0 && filter.isRefused(host)) throw invalidSubscription('The endpoint must have a public address.');
  try {
    ECDH.convertKey(keys.p256dh, 'prime256v1', 'base64url');
  } catch {
    throw invalidSubscription('The key p256dh of the subscription is no key.');
  }
  return subscription;
}

function marksOf(sent: Json | undefined): string[] {
  const marks = isObject(sent) ? sent['reached'] : undefined;
  return Array.isArray(marks) ? marks.filter((each) => typeof each === 'string') : [];
}

function requireRecords(records: Records | undefined): Records {
  if (records !== undefined) return records;
  throw new ProblemError({ code: 'internal', message: 'Web push needs a worker, which reads the subscriptions.' });
}

function invalidSubscription(message: string): ProblemError {
  return new ProblemError({ code: 'arguments_invalid', message });
}

const text = z.string().min(1, 'must not be empty').max(2_000, 'must have at most 2000 characters');
const shape = z.strictObject({
  subject: text,
  public_key: text,
  private_key: secretShape,
  gateway_url: text,
  allow_addresses: z.array(text).max(100, 'must have at most 100 items').optional(),
  ca_file: text.optional(),
  callers: z.enum(callersOptions).optional(),
});

/** `kind: web_push` of a channel file (docs/web-push.md). */
export const webPushKind: ChannelKind<z.infer<typeof shape>> = {
  shape,
  make: ({ subject, ca_file: caFile, ...members }) =>
    webPushChannel({
      subject,
      publicKey: members.public_key,
      privateKey: readSecret(members.private_key),
      gatewayUrl: members.gateway_url,
      allowAddresses: members.allow_addresses,
      ca: caFile && readPem(caFile, 'ca_file'),
      callers: members.callers,
    }),
};
