import { randomUUID } from 'node:crypto';
import webPush from 'web-push';
import { pushAppOf, webPushChannel } from '../../../src/adapters/web-push/web-push-channel.ts';
import type { WebPushOptions } from '../../../src/adapters/web-push/web-push-settings.ts';
import { type Subscriptions, subscriptionsOf } from '../../../src/adapters/web-push/subscriptions.ts';
import type { Channel, ChannelRequest, NotifyContext, SettledContext } from '../../../src/channels/channel.ts';
import type { PushApp } from '../../../src/channels/chat-app.ts';
import { recordsOf, type Records } from '../../../src/client/server/records.ts';
import type { Settlement } from '../../../src/contract.ts';
import { openPushService, type PushServiceInTest } from './push-service.ts';
import { openWorld, type World, type WorldOptions } from '../../support/world.ts';

export const publicUrl = 'https://approvals.example.com';

/** Push keys of an installation of its own: nobody else's subscriptions are there. */
export interface PushKeys {
  publicKey: string;
  privateKey: string;
}

export function makePushKeys(): PushKeys {
  return webPush.generateVAPIDKeys();
}

/** A push service, and a channel that sends to it. */
export interface PushWorld extends World {
  service: PushServiceInTest;
  keys: PushKeys;
  records: Records;
  subscriptions: Subscriptions;
  channelWith(options?: Partial<WebPushOptions>): Channel;
  app: PushApp;
  /** A browser of this person, as `person` or `person's phone`, that is subscribed. */
  subscribed(browser: string, groups?: readonly string[]): Promise<void>;
  context(more?: Partial<NotifyContext>): NotifyContext;
  settledContext(more?: Partial<SettledContext>): SettledContext;
}

export async function openPushWorld(options: WorldOptions = { worker: false }): Promise<PushWorld> {
  const [service, world, keys] = [await openPushService(), await openWorld(options), makePushKeys()];
  const records = recordsOf(world.client.session);
  const channelWith = (more: Partial<WebPushOptions> = {}): Channel =>
    webPushChannel({
      subject: 'mailto:ops@example.com',
      ...keys,
      gatewayUrl: publicUrl,
      allowAddresses: ['127.0.0.1'],
      ca: service.ca,
      ...more,
    });
  const app = pushAppOf({ push: channelWith() })!;
  const common = () => ({ attempt: 1, requests: [], records, signal: AbortSignal.timeout(60_000) });
  return {
    ...world,
    service,
    keys,
    records,
    subscriptions: subscriptionsOf({ ...keys, origin: publicUrl }, records),
    channelWith,
    app,
    subscribed: (browser, groups = []) =>
      app.subscribe({ id: browser.split("'")[0]!, groups }, service.subscribe(browser), records),
    context: (more = {}) => ({ ...common(), step: { kind: 'asked' }, key: randomUUID(), ...more }),
    settledContext: (more = {}) => ({ ...common(), key: randomUUID(), ...more }),
    close: async () => {
      await world.close();
      await service.stop();
    },
  };
}

/** How ann settled a request. */
export function approvedByAnn(request: ChannelRequest): [ChannelRequest, Settlement] {
  const settled: Settlement = { outcome: 'approved', runs: true, reviewerId: 'ann', settledAt: '2026-01-02T03:05:00Z' };
  return [{ ...request, settled }, settled];
}
