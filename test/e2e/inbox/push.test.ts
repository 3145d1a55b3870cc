/**
 * Web push in a real browser. Its own push service cannot be reached from here, so the subscription is that of another one,
 * and messages come by the browser's DevTools; the rest is real.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CDPSession, Page } from 'playwright-core';
import { askingMessage, settledMessage } from '../../../src/adapters/web-push/push-message.ts';
import { pushAppOf, webPushChannel } from '../../../src/adapters/web-push/web-push-channel.ts';
import { type Subscriptions, subscriptionsOf } from '../../../src/adapters/web-push/subscriptions.ts';
import { recordsOf } from '../../../src/client/server/records.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { openBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';
import { openPushService, type PushServiceInTest } from '../../adapters/web-push/push-service.ts';
import { approvedByAnn, makePushKeys } from '../../adapters/web-push/push-world.ts';

const ann = makeToken('ann', ['reviewer']);
const bob = makeToken('bob', ['reviewer']);
const identity = identityOf({ tokens: [ann.entry, bob.entry] });
const origin = 'https://approvals.example.com';
const switchName = 'Notify me also when the inbox is closed';

async function signIn({ world, browser }: InboxPage, { token }: typeof ann): Promise<void> {
  const response = await world.call('POST', '/login/token', { token });
  const [name, value] = response.headers.getSetCookie()[0]!.split(';')[0]!.split('=') as [string, string];
  await browser.context.addCookies([{ name, value, url: world.gateway.url }]);
}

async function openSettings(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/inbox/runs`);
  await page.getByText('Sign out').waitFor();
  await page.getByRole('button', { name: /settings and notifications/ }).click();
  await page.locator('dialog[open]').waitFor();
}

const registrations = (page: Page): Promise<number> =>
  page.evaluate('navigator.serviceWorker.getRegistrations().then((all) => all.length)');

const browserTests = chromium === undefined ? describe.skip : describe;

browserTests('a gateway with web push (needs Chromium)', () => {
  const keys = makePushKeys();
  const app = pushAppOf({
    push: webPushChannel({
      subject: 'mailto:ops@example.com',
      ...keys,
      gatewayUrl: origin,
      allowAddresses: ['127.0.0.1'],
    }),
  })!;
  let service: PushServiceInTest;
  let inbox: InboxPage;
  let page: Page;
  let subscriptions: Subscriptions;
  beforeAll(async () => {
    service = await openPushService();
    // A private profile has no push service at all.
    inbox = await openInboxPage({}, { identity, push: app }, openBrowser);
    ({ page } = inbox);
    subscriptions = subscriptionsOf({ ...keys, origin }, recordsOf(inbox.world.client.session));
    await inbox.browser.context.grantPermissions(['notifications'], { origin: inbox.world.gateway.url });
    await signIn(inbox, ann);
  });
  afterAll(async () => {
    await inbox.close();
    await service.stop();
  });
  test('without a push service nothing is switched on, the page says so, and no service worker stays', async () => {
    await openSettings(page, inbox.world.gateway.url);
    const box = page.getByRole('checkbox', { name: switchName });
    await box.click();
    await page
      .getByText("Notifications were not changed: the browser's push service cannot be reached, or refused.")
      .waitFor();
    expect(await box.isChecked()).toBe(false);
    await eventually('it is undone', async () => (await registrations(page)) === 0);
    expect(await subscriptions.of('ann')).toEqual([]);
  });

  describe('and a browser whose push service is there', () => {
    let details: ApprovalDetails;
    let devTools: CDPSession;
    /** The one of the test before may still be among them. */
    const live = new Set<string>();
    beforeAll(async () => {
      await inbox.browser.context.addInitScript(standIn, service.subscribe('chromium'));
      const { workflowId, requestId } = await inbox.ask('pay', { to: 'carl', amount: 5 });
      details = await inbox.world.client.approvals.get(requestId, { workflowId });
      devTools = await inbox.browser.context.newCDPSession(page);
      devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: all }) => {
        for (const { registrationId, isDeleted } of all)
          if (isDeleted) live.delete(registrationId);
          else live.add(registrationId);
      });
      await devTools.send('ServiceWorker.enable');
    });

    const deliver = async (message: unknown): Promise<void> => {
      const data = typeof message === 'string' ? message : JSON.stringify(message);
      for (const registrationId of live)
        await devTools.send('ServiceWorker.deliverPushMessage', {
          origin: inbox.world.gateway.url,
          registrationId,
          data,
        });
    };
    const shown = (): Promise<Shown[]> => page.evaluate(shownInPage);
    /** Delivers a message until it is shown: the browser may not know its new service worker at once. */
    const delivered = (title: string, message: unknown) => {
      let deliveredAtMs = 0;
      return eventually(`the notification '${title}'`, async () => {
        if (Date.now() - deliveredAtMs > 2_000) {
          await deliver(message);
          deliveredAtMs = Date.now();
        }
        const all = await shown();
        return all.some((each) => each.title === title) && all;
      });
    };

    test('the switch registers the service worker, subscribes at the gateway, and stays on', async () => {
      await openSettings(page, inbox.world.gateway.url);
      await page.getByRole('checkbox', { name: switchName }).click();
      await page.getByText('This browser notifies you of new requests also while the inbox is closed.').waitFor();
      expect((await subscriptions.of('ann')).map(({ endpoint }) => endpoint)).toEqual([`${service.url}/push/chromium`]);
      expect(await registrations(page)).toBe(1);
      await openSettings(page, inbox.world.gateway.url);
      await eventually('it is on', () => page.getByRole('checkbox', { name: switchName }).isChecked());
    });

    test('a message shows a notification that leads to the request, and its settlement takes its place', async () => {
      const own = { origin: inbox.world.gateway.url };
      await eventually('the service worker is known', () => live.size > 0);
      const first = askingMessage(details, { kind: 'asked' }, { ...own, key: 'a' });
      const url = `${inbox.world.gateway.url}/inbox/requests/${details.workflowId}/${details.requestId}`;
      const asked = 'A call waits for a decision';
      const body = expect.stringMatching(/^tester wants to call pay · severity \w+ · until (?!\d{4}-\d\d-\d\dT)/);
      expect(await delivered(asked, first)).toEqual([{ title: asked, body, silent: false, url }]);
      const second = askingMessage(details, { kind: 'reminded' }, { ...own, key: 'b' });
      const reminded = 'A call still waits for a decision';
      expect(await delivered(reminded, second)).toEqual([{ title: reminded, body, silent: false, url }]);
      const last = settledMessage(...approvedByAnn(details), { ...own, key: 'c' });
      const settled = 'Settled: approved by ann';
      expect(await delivered(settled, last)).toEqual([
        { title: settled, body: 'tester wanted to call pay', silent: true, url },
      ]);
    });

    test('a click opens the request, and no message leads anywhere else', async () => {
      const worker = inbox.browser.context.serviceWorkers().at(-1);
      const opened = () => worker!.evaluate(clickAll);
      expect(await opened()).toEqual([
        `${inbox.world.gateway.url}/inbox/requests/${details.workflowId}/${details.requestId}`,
      ]);
      expect(await shown()).toEqual([]);
      const elsewhere = ['https://evil.example/inbox/', '/inbox/../login', 'javascript:alert(1)', 17];
      for (const [place, url] of elsewhere.entries())
        await delivered(`x${place}`, { title: `x${place}`, tag: `x${place}`, body: '', url });
      expect(await shown()).toHaveLength(elsewhere.length);
      expect(new Set(await opened())).toEqual(new Set([`${inbox.world.gateway.url}/inbox/`]));
      await delivered('A call waits for a decision', 'no JSON');
    });

    test('the switch undoes it, here and at the gateway', async () => {
      await openSettings(page, inbox.world.gateway.url);
      const box = page.getByRole('checkbox', { name: switchName });
      await eventually('it is on', () => box.isChecked());
      await box.click();
      await page.getByText('This browser notifies you of new requests only while the inbox is open.').waitFor();
      expect(await subscriptions.of('ann')).toEqual([]);
      await eventually('it is unregistered', async () => (await registrations(page)) === 0);
    });

    test('a subscription that was made with other keys is undone, and the switch shows it', async () => {
      await openSettings(page, inbox.world.gateway.url);
      await page.getByRole('checkbox', { name: switchName }).click();
      await page.getByText('also while the inbox is closed.').waitFor();
      await page.evaluate(`localStorage.setItem('subscribed-in-test', '${makePushKeys().publicKey}')`);
      await openSettings(page, inbox.world.gateway.url);
      await eventually(
        'it is undone',
        async () => (await page.evaluate(`localStorage['subscribed-in-test']`)) === undefined,
      );
      expect(await page.getByRole('checkbox', { name: switchName }).isChecked()).toBe(false);
    });

    test('who signs out leaves no subscription, and the next person finds it off', async () => {
      await openSettings(page, inbox.world.gateway.url);
      await page.getByRole('checkbox', { name: switchName }).click();
      await page.getByText('also while the inbox is closed.').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
      await eventually('it is gone', async () => (await subscriptions.of('ann')).length === 0);
      await page.getByText('Sign in').first().waitFor();
      // The page has asked who it is, and nobody is: the browser notes that answer, and nothing else in all these tests.
      expect(new Set(inbox.complaints)).toEqual(new Set([expect.stringContaining('401 (Unauthorized)')]));
      await signIn(inbox, bob);
      await openSettings(page, inbox.world.gateway.url);
      expect(await page.getByRole('checkbox', { name: switchName }).isChecked()).toBe(false);
      expect(inbox.foreign).toEqual([]);
    });

    test('who signs out while the gateway does not answer about push is signed out all the same', async () => {
      await page.getByRole('checkbox', { name: switchName }).click();
      await page.getByText('also while the inbox is closed.').waitFor();
      await page.route('**/push/unsubscribe', () => undefined);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('Sign in').first().waitFor();
      expect(await registrations(page)).toBe(0);
    });
  });
});

browserTests('a gateway without web push (needs Chromium)', () => {
  test('offers nothing, registers no service worker, and makes no request elsewhere', async () => {
    const inbox = await openInboxPage({ worker: false }, { identity });
    try {
      await signIn(inbox, ann);
      await openSettings(inbox.page, inbox.world.gateway.url);
      expect(await inbox.page.getByRole('checkbox', { name: switchName }).count()).toBe(0);
      expect(await registrations(inbox.page)).toBe(0);
      expect(inbox.foreign).toEqual([]);
      expect(inbox.complaints).toEqual([]);
    } finally {
      await inbox.close();
    }
  });
});

/** A notification, as far as people see it, and where it leads. */
interface Shown {
  title: string;
  body: string;
  silent: boolean;
  url: string;
}

// The types of browsers are not those of this project.
declare const PushManager: { prototype: object };
declare const self: object;

const shownInPage = `(async () => {
  const [registration] = await navigator.serviceWorker.getRegistrations();
  const all = (await registration?.getNotifications()) ?? [];
  return all.map(({ title, body, silent, data }) => ({ title, body, silent, url: data.url }));
})()`;

/** In the page: a push service that is there, with one subscription of this browser. */
function standIn(subscription: { endpoint: string; keys: object }): void {
  const key = 'subscribed-in-test';
  const bytesOf = (text: string): ArrayBuffer =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0)).buffer;
  const present = () =>
    localStorage.getItem(key) === null
      ? null
      : {
          endpoint: subscription.endpoint,
          options: { applicationServerKey: bytesOf(localStorage.getItem(key)!) },
          toJSON: () => subscription,
          unsubscribe: async () => {
            localStorage.removeItem(key);
            return true;
          },
        };
  Object.assign(PushManager.prototype, {
    getSubscription: async () => present(),
    subscribe: async ({ applicationServerKey }: { applicationServerKey: string }) => {
      localStorage.setItem(key, applicationServerKey);
      return present();
    },
  });
}

/** In the service worker: clicks all notifications, and returns what that opens. */
async function clickAll(): Promise<string[]> {
  const scope = self as unknown as {
    registration: { getNotifications(): Promise<object[]> };
    clients: object;
    dispatchEvent(event: Event): boolean;
  };
  const opened: string[] = [];
  // A browser opens windows only for a hand that clicks.
  Object.assign(scope.clients, { openWindow: async (url: string) => opened.push(url) });
  const all = await scope.registration.getNotifications();
  for (const notification of all) {
    const work: Promise<unknown>[] = [];
    const event = Object.assign(new Event('notificationclick'), {
      notification,
      waitUntil: (each: Promise<unknown>) => work.push(each),
    });
    scope.dispatchEvent(event);
    await Promise.all(work);
  }
  return opened;
}
