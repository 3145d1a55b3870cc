import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Page } from 'playwright-core';
import { type Browser, openSharedBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { type AskedRun, chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/**
 * Many tabs of the inbox in one browser. A browser opens six connections to a server of HTTP/1.1, and an event stream
 * occupies one for as long as it lasts.
 */

const withChromium = chromium === undefined ? describe.skip : describe;

/** The event streams that a gateway in this process has open. */
interface OpenStreams {
  /** The path of each, in order. */
  paths(): string[];
  /** The value of a header of each. */
  headers(name: string): string[];
  /** How many streams were opened so far. */
  opened(): number;
}

function watchStreams({ world }: InboxPage): OpenStreams {
  const { host } = new URL(world.gateway.url);
  const open = new Set<IncomingMessage>();
  let opened = 0;
  const count = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.headers.host !== host || !/\/events($|\?(?!.*follow=false))/.test(request.url!)) return;
    open.add(request);
    opened += 1;
    response.once('close', () => open.delete(request));
  };
  subscribe('http.server.request.start', count);
  onTestFinished(() => {
    unsubscribe('http.server.request.start', count);
  });
  return {
    paths: () => [...open].map(({ url }) => url!.replace(/\?.*/, '')).sort(),
    headers: (name) => [...open].map(({ headers }) => String(headers[name])).sort(),
    opened: () => opened,
  };
}

/** The ids of the requests that a page lists, each as often as it is there. */
async function listed(page: Page): Promise<string[]> {
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.requests a.open')].map((each) => each.getAttribute('href'))`,
  );
  return links.map((href) => href.split('/').at(-1)!).sort();
}

const lists = (page: Page, ids: readonly string[]) =>
  eventually('the list', async () => JSON.stringify(await listed(page)) === JSON.stringify([...ids].sort()));

/** Hides a page or shows it again: in a browser without a screen all are visible. */
async function setVisible(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

withChromium('many tabs in one browser (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    inbox = await openInboxPage(
      { agentPolicy: { version: 1, rules: [{ pattern: '*', action: 'ask' }] } },
      { undoMs: 0 },
    );
  });
  afterAll(() => inbox?.close());

  const addressOf = (path: string): string => `${inbox.world.gateway.url}/inbox/${path}`;
  const pathOf = ({ workflowId, requestId }: AskedRun): string => `requests/${workflowId}/${requestId}`;
  const listStream = '/approvals/events';
  const runStream = ({ workflowId }: AskedRun): string => `/runs/${workflowId}/events`;
  async function openTab(path: string, context = inbox.browser.context): Promise<Page> {
    const page = await context.newPage();
    onTestFinished(() => page.close());
    await page.goto(addressOf(path));
    return page;
  }
  async function deny({ workflowId, requestId }: AskedRun): Promise<void> {
    await inbox.world.client.decide({ requestId, approved: false, reviewerId: 'rita' }, { workflowId });
  }

  test('seven tabs have one stream of the list and one of a run, and an answer in the sixth is sent', async () => {
    const streams = watchStreams(inbox);
    const asked = await inbox.ask('pay', { to: 'ann', amount: 1 });
    const run = `runs/${asked.workflowId}`;
    const tabs: Page[] = [];
    for (const path of ['', '', '', run, run, pathOf(asked), run]) tabs.push(await openTab(path));
    const [first, second, third, fourth, fifth, sixth, seventh] = tabs as [Page, Page, Page, Page, Page, Page, Page];
    for (const page of [first, second, third]) await lists(page, [asked.requestId]);
    for (const page of [fourth, fifth, seventh]) await page.getByText('waiting for approval').waitFor();
    await eventually('one stream of each', () => streams.paths().length === 2);
    expect(streams.paths()).toEqual([listStream, runStream(asked)]);
    await sixth.getByRole('button', { name: 'Approve', exact: true }).click();
    await sixth.getByText(/^You \w+ this at/).waitFor();
    expect((await asked.run.result()).output).toBe('done');
    for (const page of [first, second, third]) await lists(page, []);
    for (const page of [fourth, fifth, seventh]) {
      await page.getByText('Timeline · ended').waitFor();
      expect(await page.locator('.call').count()).toBe(1);
    }
    await eventually('the stream of the run has ended', () => streams.paths().length === 1);
  });

  test('a tab that is closed, frozen or silent leaves its stream to another, and no request is lost or doubled', async () => {
    const streams = watchStreams(inbox);
    const one = await inbox.ask('pay', { to: 'bea', amount: 1 });
    const tabs = [await openTab(''), await openTab(''), await openTab('')] as const;
    for (const page of tabs) await lists(page, [one.requestId]);
    expect(streams.opened()).toBe(1);

    // Closed: two requests change while nobody has the stream.
    const [first, second, third] = tabs;
    await first.close();
    const two = await inbox.ask('pay', { to: 'cas', amount: 2 });
    await deny(one);
    for (const page of [second, third]) await lists(page, [two.requestId]);
    expect(streams.paths()).toEqual([listStream]);
    expect(streams.opened()).toBe(2);

    // Frozen: a browser without a screen freezes no page, so the page gets the events alone.
    await second.evaluate(`document.dispatchEvent(new Event('freeze'))`);
    await eventually('the third has opened a stream', () => streams.opened() === 3);
    const three = await inbox.ask('pay', { to: 'dan', amount: 3 });
    await lists(third, [two.requestId, three.requestId]);
    expect(streams.paths()).toEqual([listStream]);
    await second.evaluate(`document.dispatchEvent(new Event('resume'))`);
    await lists(second, [two.requestId, three.requestId]);

    // Silent: a page that holds the lock and tells nothing, as one that the browser has suspended.
    const silent = await inbox.browser.context.newPage();
    onTestFinished(() => silent.close());
    await silent.route('**/assets/*.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
    await silent.goto(addressOf(''));
    await silent.evaluate(`(async () => {
      const { held } = await navigator.locks.query();
      const name = held.map((each) => each.name).find((each) => each.startsWith('countersign inbox '));
      await new Promise((has) => navigator.locks.request(name, { steal: true }, () => (has(), new Promise(() => undefined))).catch(() => undefined));
    })()`);
    await eventually('the third has lost its stream', () => streams.paths().length === 0);
    const four = await inbox.ask('pay', { to: 'eve', amount: 4 });
    await deny(two);
    for (const page of [second, third]) await page.clock.fastForward(60_000);
    for (const page of [second, third]) await lists(page, [three.requestId, four.requestId]);
    expect(streams.paths()).toEqual([listStream]);
    for (const each of [three, four]) await deny(each);
  });

  test('a run that cannot be seen has no stream, and one that is seen again goes on after its last event', async () => {
    const streams = watchStreams(inbox);
    const asked = await inbox.ask('pay', { to: 'fay', amount: 5 });
    const page = await openTab(`runs/${asked.workflowId}`);
    await page.getByText('waiting for approval').waitFor();
    await eventually('both streams', () => streams.paths().length === 2);
    await setVisible(page, 'hidden');
    await eventually('the stream of the list alone', () => streams.paths().length === 1);
    expect(streams.paths()).toEqual([listStream]);
    await deny(asked);
    await asked.run.result();
    await setVisible(page, 'visible');
    await page.getByText('Timeline · ended').waitFor();
    // The task, the call and its end, each once.
    expect(await page.locator('.conversation > li').count()).toBe(4);
  });

  describe('a browser that cannot share', () => {
    let old: Browser;
    beforeAll(async () => {
      old = await openSharedBrowser(chromium!);
    });
    afterAll(() => old?.close());

    test.each([
      ['locks', 'delete Navigator.prototype.locks'],
      ['channels', 'delete globalThis.BroadcastChannel'],
    ])('has a stream in the tabs that can be seen only: without %s', async (_what, remove) => {
      const streams = watchStreams(inbox);
      const asked = await inbox.ask('pay', { to: 'gus', amount: 6 });
      const tabs: Page[] = [];
      for (let count = 0; count < 7; count += 1) {
        const page = await old.context.newPage();
        onTestFinished(() => page.close());
        await page.addInitScript(remove);
        await page.goto(addressOf(count === 6 ? pathOf(asked) : ''));
        if (count < 6) await lists(page, [asked.requestId]);
        tabs.push(page);
        if (count < 6) await setVisible(page, 'hidden');
      }
      await eventually('one stream', () => streams.paths().length === 1);
      const last = tabs.at(-1)!;
      await last.getByRole('button', { name: 'Approve', exact: true }).click();
      await last.getByText(/^You \w+ this at/).waitFor();
      await setVisible(tabs[0]!, 'visible');
      await lists(tabs[0]!, []);
    });
  });

  test('the browser complains of nothing, and asks no other server', () => {
    expect(inbox.complaints).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });
});

const ann = makeToken('ann', ['viewer', 'reviewer']);
const bob = makeToken('bob', ['viewer', 'reviewer']);

withChromium('two people in one browser (needs Chromium)', () => {
  let inbox: InboxPage;
  let asked: AskedRun;
  beforeAll(async () => {
    const rules = [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }];
    const identity = identityOf({ tokens: [ann.entry, bob.entry] });
    inbox = await openInboxPage({ agentPolicy: { version: 1, rules } }, { identity });
    asked = await inbox.ask('pay', { to: 'bob', amount: 1 });
  });
  afterAll(() => inbox?.close());

  test('never share a stream: each sees for whom a request waits', async () => {
    const streams = watchStreams(inbox);
    const people = [
      [ann, 'waits for you'],
      [bob, 'waits for others'],
      [ann, 'waits for you'],
      [bob, 'waits for others'],
    ] as const;
    for (const [{ bearer }, text] of people) {
      const page = await inbox.otherPage();
      onTestFinished(() => page.close());
      await page.setExtraHTTPHeaders(bearer);
      await page.goto(`${inbox.world.gateway.url}/inbox/`);
      await page.locator('.requests li').getByText(text).waitFor();
    }
    expect(streams.headers('authorization')).toEqual([ann, bob].map(({ bearer }) => bearer.authorization).sort());
  });

  test('who signs out has no stream in any tab, and the next person is shown in all of them', async () => {
    const streams = watchStreams(inbox);
    const [one, other] = [await inbox.otherPage(), await inbox.otherPage()];
    for (const page of [one, other]) onTestFinished(() => page.close());
    const signIn = async (page: Page, { token }: typeof ann): Promise<void> => {
      await page.getByLabel('Or with a token').fill(token);
      await page.getByRole('button', { name: 'Sign in with the token' }).click();
    };
    await one.goto(`${inbox.world.gateway.url}/inbox/`);
    await other.goto(`${inbox.world.gateway.url}/inbox/requests/${asked.workflowId}/${asked.requestId}`);
    await signIn(one, ann);
    for (const page of [one, other]) await page.getByText('waits for you', { exact: true }).waitFor();
    expect(streams.paths()).toEqual(['/approvals/events']);
    const annsCookies = streams.headers('cookie');

    await one.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    for (const page of [one, other]) await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await eventually('no stream', () => streams.paths().length === 0);

    await signIn(other, bob);
    for (const page of [one, other]) await page.getByText('waits for others', { exact: true }).waitFor();
    await eventually('one stream', () => streams.paths().length === 1);
    expect(streams.headers('cookie')).not.toEqual(annsCookies);

    // One who signs in elsewhere while a tab still shows somebody else: what that tab shows goes.
    const third = await inbox.otherPage();
    onTestFinished(() => third.close());
    const response = await inbox.world.call('POST', '/login/token', { token: ann.token });
    const [name, value] = response.headers.getSetCookie()[0]!.split(';')[0]!.split('=') as [string, string];
    await inbox.browser.context.addCookies([{ name, value, url: inbox.world.gateway.url }]);
    await third.goto(`${inbox.world.gateway.url}/inbox/`);
    for (const page of [one, other, third]) await page.getByText('waits for you', { exact: true }).waitFor();
    await eventually('one stream', () => streams.paths().length === 1);
  });
});
