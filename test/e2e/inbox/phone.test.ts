import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** The inbox on a phone: what is pressed stays where it is, and what came of it is in sight. */

const withChromium = chromium === undefined ? describe.skip : describe;

const size = { width: 380, height: 780 };
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const scrolled = (page: Page): Promise<number> => page.evaluate('window.scrollY');

/** Taps where a button is, without scrolling there first. */
async function tap(page: Page, name: string): Promise<void> {
  const box = (await button(page, name).boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

withChromium('the inbox on a phone (needs Chromium)', () => {
  let inbox: InboxPage;
  let page: Page;
  beforeAll(async () => {
    const policy = { version: 1, rules: [{ id: 'all', pattern: '*', action: 'ask' }] };
    // The time to undo is the one of a gateway that is told nothing.
    inbox = await openInboxPage({ agentPolicy: policy }, { undoMs: undefined });
    ({ page } = inbox);
    await page.setViewportSize(size);
  });
  afterAll(() => inbox?.close());

  const armed = (): Promise<void> => page.locator('[data-form=approve][aria-disabled=false]').waitFor();

  test('an approval neither moves the page nor hides what came of it, and is held back for 5 seconds', async () => {
    const { world } = inbox;
    const asked = await inbox.ask('pay', { to: 'kim', amount: 6 });
    await inbox.show(asked);
    await armed();
    await page.evaluate('window.scrollTo(0, 300)');
    const before = await scrolled(page);
    expect(before).toBeGreaterThan(200);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/approve/')) sent.push(request.url());
    });
    await page.clock.pauseAt(Date.now() + 60_000);
    await tap(page, 'Approve');
    await page.getByText('Approved', { exact: true }).waitFor();
    expect(await scrolled(page)).toBe(before);
    await page.clock.runFor(4_900);
    expect(await button(page, 'Undo').count()).toBe(1);
    expect(sent).toEqual([]);
    await page.clock.runFor(200);
    await page.clock.resume();
    const note = page.getByRole('region', { name: 'How it stands' });
    await note.getByText(/^You \w+ this at/).waitFor();
    expect(sent).toHaveLength(1);
    const { y, height } = (await note.boundingBox())!;
    expect([y >= 0, y + height <= size.height]).toEqual([true, true]);
    await page.locator('[aria-label="How it stands"]:focus').waitFor();
    expect((await asked.run.result()).output).toBe('done');
    expect(world.ran()).toEqual(['pay kim 6']);
  });

  test('what somebody else decides meanwhile is in sight, too', async () => {
    const asked = await inbox.ask('pay', { to: 'lou', amount: 7 });
    await inbox.show(asked);
    await armed();
    await page.evaluate('window.scrollTo(0, 300)');
    const { requestId, workflowId } = asked;
    await inbox.world.client.decide({ requestId, approved: false, reviewerId: 'rita' }, { workflowId });
    const note = page.getByRole('region', { name: 'How it stands' });
    await note.getByText('rita denied this at').waitFor();
    const { y, height } = (await note.boundingBox())!;
    expect([y >= 0, y + height <= size.height]).toEqual([true, true]);
  });

  test('the filters are behind one button that says how many are on, and the way back leads to the row', async () => {
    const { world } = inbox;
    const asked = [await inbox.ask('pay', { to: 'mia', amount: 8 }), await inbox.ask('wipe', {})];
    await page.goto(world.gateway.url);
    const row = page.locator('.requests li', { hasText: 'Wipe' });
    await row.waitFor();
    expect(await page.getByLabel('Tool').isVisible()).toBe(false);
    await eventually(
      'the first row is in sight',
      async () => (await page.locator('.requests li').first().boundingBox())!.y < 220,
    );
    await button(page, 'Filters').click();
    await page.getByLabel('Tool').selectOption('wipe');
    await page.getByRole('button', { name: 'Filters 1 on' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await row.locator('a').click();
    await page.locator('article.card').waitFor();
    await page.getByRole('link', { name: '← Inbox' }).click();
    await row.waitFor();
    await eventually(
      'the row has the focus',
      async () => (await page.evaluate('document.activeElement.textContent')) === 'Wipe',
    );
    for (const { workflowId } of asked) await world.client.cancel(workflowId);
  });

  test('until the gateway has told the open requests, the list says that it loads', async () => {
    const goOn = Promise.withResolvers<void>();
    await page.route('**/approvals/events', async (route) => {
      await goOn.promise;
      await route.continue();
    });
    await page.goto(inbox.world.gateway.url);
    await page.getByText('Loading the open requests …').waitFor();
    goOn.resolve();
    await page.getByText('Loading the open requests …').waitFor({ state: 'detached' });
    await page.unroute('**/approvals/events');
  });

  describe('notifications', () => {
    beforeAll(async () => {
      const { origin } = new URL(inbox.world.gateway.url);
      await inbox.browser.context.grantPermissions(['notifications'], { origin });
      // The other tabs have the inbox, and this one is looked at.
      await page.goto('about:blank');
    });

    /** Opens the inbox, asks to be notified, and looks elsewhere. */
    const notified = async (tab: Page): Promise<void> => {
      await tab.goto(inbox.world.gateway.url);
      await tab.getByText('Nothing waits for an answer').waitFor();
      await tab.keyboard.press('Control+k');
      await tab.getByRole('combobox', { name: 'Find a page' }).fill('Notify me');
      await tab.keyboard.press('Enter');
      await tab.getByText('You are notified of new requests').waitFor();
      const devTools = await inbox.browser.context.newCDPSession(tab);
      await devTools.send('Emulation.setFocusEmulationEnabled', { enabled: false });
      await page.bringToFront();
      await eventually('nobody looks at the page', async () => !(await tab.evaluate<boolean>('document.hasFocus()')));
    };

    test('a desk: the page shows one for a request that comes while nobody looks', async () => {
      const tab = await inbox.otherPage();
      // The real ones, and which of them the browser has shown.
      await tab.addInitScript(`
        globalThis.shown = [];
        globalThis.Notification = class extends Notification {
          constructor(title, options) {
            super(title, options);
            this.addEventListener('show', () => shown.push({ title: this.title, body: this.body }));
          }
        };`);
      await notified(tab);
      const asked = await inbox.ask('pay', { to: 'ann', amount: 1 });
      await eventually('both are shown', async () => (await tab.evaluate<Shown[]>('shown')).length === 2);
      expect(await tab.evaluate<Shown[]>('shown')).toEqual([
        { title: 'Notifications are on', body: expect.any(String) },
        { title: 'A call waits for a decision', body: 'tester wants to call pay' },
      ]);
      await inbox.world.client.cancel(asked.workflowId);
      await tab.close();
    });

    test('a phone, where a page may show none: its service worker does, and takes it away when it is settled', async () => {
      const tab = await inbox.otherPage();
      await tab.addInitScript(`
        globalThis.Notification = new Proxy(Notification, {
          construct() { throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.'); },
        });`);
      await notified(tab);
      const asked = await inbox.ask('pay', { to: 'ben', amount: 2 });
      const waits = { title: 'A call waits for a decision', body: 'tester wants to call pay' };
      const shown = (): Promise<Shown[]> => tab.evaluate(ofWorker);
      await eventually('it is shown', async () => (await shown()).some(({ title }) => title === waits.title));
      expect(await shown()).toContainEqual(waits);
      await inbox.world.client.cancel(asked.workflowId);
      await eventually('it is gone', async () => !(await shown()).some(({ title }) => title === waits.title));
      await tab.close();
    });

    test('a browser that can do neither says so', async () => {
      const tab = await inbox.otherPage();
      await tab.addInitScript(`
        globalThis.Notification = new Proxy(Notification, { construct() { throw new TypeError('Illegal constructor'); } });
        delete Navigator.prototype.serviceWorker;`);
      await tab.goto(inbox.world.gateway.url);
      await tab.getByText('Nothing waits for an answer').waitFor();
      await tab.keyboard.press('Control+k');
      await tab.getByRole('combobox', { name: 'Find a page' }).fill('Notify me');
      await tab.keyboard.press('Enter');
      await tab.getByText('This browser cannot notify you').waitFor();
      await tab.getByRole('button', { name: /settings and notifications/ }).click();
      await tab.getByText('This browser cannot notify you from this address.').waitFor();
      await tab.close();
    });

    test('the inbox can be installed: Chromium finds its manifest and nothing wrong with it', async () => {
      await page.goto(inbox.world.gateway.url);
      const devTools = await inbox.browser.context.newCDPSession(page);
      const { url, errors, manifest } = await devTools.send('Page.getAppManifest');
      expect([new URL(url).pathname, errors]).toEqual(['/inbox/manifest.webmanifest', []]);
      expect(manifest).toMatchObject({ display: 'kStandalone' });
      const { installabilityErrors } = await devTools.send('Page.getInstallabilityErrors');
      // A private profile installs nothing, whatever the page is.
      expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
    });
  });

  test('the browser complains of nothing, and asks no other server', () => {
    expect(inbox.complaints).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });
});

interface Shown {
  title: string;
  body: string;
}

/** Notifications that the page's service worker shows. */
const ofWorker = `navigator.serviceWorker.getRegistration('/inbox/')
  .then((registration) => registration?.getNotifications() ?? [])
  .then((all) => all.map(({ title, body }) => ({ title, body })))`;
