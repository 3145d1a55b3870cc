/**
 * Chat front ends that people have, in a real browser: whatever state a conversation is in, a page that is reloaded and a
 * second tab go on with it. No call runs twice, none runs that nobody approved, and nothing is shown twice.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Locator, Page, Response } from 'playwright-core';
import { type Browser, findChromium, openSharedBrowser } from '../../support/browser.ts';
import { byHeader } from '../../adapters/http/chat-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { type FrontEndSite, openFrontEndSite } from './front-end-site.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { once, pay } from '../../support/team.ts';
import { testAgent } from '../../support/test-agent.ts';
import type { Turns } from '../../support/world.ts';

/** How long a request waits that expires: on a busy machine, a page may not show it within the first. */
const seconds = [3, 12, 48];
const policy = {
  version: 1,
  rules: [
    { pattern: '*', action: 'ask', ask: { allow_self: true } },
    ...seconds.map((each) => ({
      pattern: 'echo',
      args: { text: `${each}s *` },
      action: 'ask',
      ask: { allow_self: true, timeout: `${each}s` },
    })),
  ],
};

const chromium = findChromium();

describe.skipIf(chromium === undefined)('a conversation in each state (needs Chromium)', () => {
  let browser: Browser;
  let world: GatewayWorld;
  let site: FrontEndSite;
  const errors: string[] = [];

  beforeAll(async () => {
    world = await openGatewayWorld(
      { agentsIn: (folder) => [testAgent(folder, policy, { heartbeatTimeoutMs: 60_000 })] },
      { authenticator: byHeader() },
    );
    site = await openFrontEndSite(world.gateway.url, { 'x-person': 'ann' });
  });
  afterAll(async () => {
    await site.close();
    await world.close();
  });
  // A profile for each test: a page of the test before keeps its messages until it is closed, and a page that finds any goes
  // on with their thread.
  beforeEach(async () => {
    browser = await openSharedBrowser(chromium!);
  });
  afterEach(async () => {
    await browser.close();
    const thrown = errors.splice(0);
    if (thrown.length > 0) throw new Error(`a page threw: ${thrown.join('; ')}`);
  });

  async function open(address: string): Promise<Page> {
    const page = await browser.context.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(`${site.url}/${address}`);
    return page;
  }

  async function say(page: Page, turns: Turns): Promise<void> {
    await page.getByLabel('Message').fill(JSON.stringify(turns));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  }

  const ran = (line: string): number => world.ran().filter((each) => each === line).length;
  const button = (page: Page, name: string): Locator => page.locator('[data-tool]').getByRole('button', { name });
  /** Clicks what is there now: a stream may take the card away at any moment. */
  const clickIfThere = (found: Locator): Promise<void> =>
    found.evaluateAll((all: readonly { dispatchEvent(event: Event): boolean }[]) => {
      for (const each of all) each.dispatchEvent(new Event('click', { bubbles: true }));
    });
  const shows = (page: Page, text: string): Promise<void> =>
    page.locator('output').filter({ hasText: text }).first().waitFor();
  const count = (page: Page, selector: string): Promise<number> => page.locator(selector).count();

  /** A page gets the request's id and the digest of its card as one. */
  const requestIdOf = (answerId: string): string => answerId.slice(0, answerId.lastIndexOf('.'));

  /** The request that a page shows, once the list has it. */
  async function requestOn(page: Page): Promise<string> {
    const shown = page.locator('[data-interrupt], [data-approval]').first();
    const answerId = (await shown.getAttribute('data-interrupt')) ?? (await shown.getAttribute('data-approval'));
    const requestId = requestIdOf(answerId!);
    await eventually('the request is listed', () => isListed(requestId));
    return requestId;
  }

  async function isListed(requestId: string): Promise<boolean> {
    const { approvals } = await world.client.approvals.list({ limit: Infinity });
    return approvals.some((each) => each.requestId === requestId);
  }

  /** Opens a page that shows a request which expires soon. */
  async function askBriefly(address: string, id: string): Promise<{ page: Page; text: string; requestId: string }> {
    for (const each of seconds) {
      const page = await open(address);
      const text = `${each}s ${id}`;
      await say(page, once({ tool: 'echo', args: { text } }));
      const shown = button(page, 'Approve');
      await shown
        .or(page.getByText(/no decision within/i))
        .first()
        .waitFor();
      const approval = page.locator('[data-approval]').first();
      const answerId = (await shown.isVisible()) ? await approval.getAttribute('data-approval') : null;
      if (answerId !== null) return { page, text, requestId: requestIdOf(answerId) };
      await browser.close();
      browser = await openSharedBrowser(chromium!);
    }
    throw new Error('no page shows a request in time');
  }

  describe.each([
    { name: 'assistant-ui', address: 'ag-ui.html' },
    { name: 'useChat', address: 'ai-sdk.html' },
    { name: 'useChat with resume', address: 'ai-sdk.html?resume' },
  ])('$name', ({ name, address }) => {
    const resumes = address.endsWith('?resume');
    const isStream = (response: Response): boolean => response.url().endsWith('/stream');

    describe.each(['a reload', 'a second tab'])('%s', (kind) => {
      const id = (state: string): string => `${name}-${kind}-${state}`.replaceAll(' ', '-');
      /**
       * Leaves a page, or opens a second one beside it. Returns what comes back to it, or gives the second one: what happens
       * in between reaches no page that is about to be left half-told.
       */
      async function leave(page: Page): Promise<() => Promise<Page>> {
        if (kind === 'a second tab') {
          const second = await open(address);
          return () => Promise.resolve(second);
        }
        await page.goto('about:blank');
        return async () => {
          await page.goto(`${site.url}/${address}`);
          return page;
        };
      }
      /** The page that goes on. */
      const again = async (page: Page): Promise<Page> => (await leave(page))();

      test('while a request is open', async () => {
        const to = id('open');
        const first = await open(address);
        await say(first, once(pay(to)));
        await button(first, 'Approve').waitFor();
        const page = await again(first);
        await button(page, 'Approve').click();
        await shows(page, `paid 1 to ${to}`);
        expect(ran(`pay ${to} 1`)).toBe(1);
        expect(await count(page, '[data-tool]')).toBe(1);
        if (page === first) return;
        // The old card of the first tab changes nothing.
        await button(first, 'Deny').click();
        await shows(first, `paid 1 to ${to}`);
        expect(ran(`pay ${to} 1`)).toBe(1);
      });

      test('after somebody else has denied the request', async () => {
        const to = id('denied');
        const first = await open(address);
        await say(first, once(pay(to)));
        await button(first, 'Approve').waitFor();
        const requestId = await requestOn(first);
        const comeBack = await leave(first);
        await world.client.decide({ requestId, approved: false, reviewerId: 'rita', reason: 'too much' });
        const page = await comeBack();
        await page.locator('[data-tool]').first().waitFor();
        await clickIfThere(button(page, 'Approve'));
        await page
          .getByText(/Denied( by rita)?: too much/)
          .first()
          .waitFor();
        await button(page, 'Approve').waitFor({ state: 'detached' });
        expect(ran(`pay ${to} 1`)).toBe(0);
      });

      // assistant-ui keeps nothing over a reload, unless the author of the page stores it. It sends no answer to an interrupt
      // that has expired.
      if (name === 'assistant-ui') return;

      test('after the request has expired', async () => {
        const { page: first, text, requestId } = await askBriefly(address, id('expired'));
        const comeBack = await leave(first);
        await eventually('the request expires', async () => {
          const { settled } = await world.client.approvals.get(requestId);
          return settled !== undefined;
        });
        const page = await comeBack();
        await page.locator('[data-tool]').first().waitFor();
        await clickIfThere(button(page, 'Approve'));
        await page
          .getByText(/no decision within/i)
          .first()
          .waitFor();
        await button(page, 'Approve').waitFor({ state: 'detached' });
        expect(await page.locator('output').filter({ hasText: text }).count()).toBe(0);
      });

      test('while the approved tool runs', async () => {
        const held = id('running');
        const first = await open(address);
        await say(first, once({ tool: 'hold', args: { name: held } }));
        await button(first, 'Approve').click();
        await eventually('the tool runs', () => ran(`start ${held}`) === 1);
        const takenUp = resumes ? browser.context.waitForEvent('response', { predicate: isStream }) : undefined;
        const page = await again(first);
        // Once the tool has ended, there is no stream to take up.
        await takenUp;
        writeFileSync(join(world.folder, `release-${held}`), '');
        // A page that does not take up its stream is told with its next message.
        if (!resumes) await say(page, [{ text: 'And now?' }]);
        await shows(page, `held ${held}`);
        expect(ran(`end ${held}`)).toBe(1);
        expect(await count(page, 'output')).toBe(1);
      });

      test('after the end', async () => {
        const to = id('ended');
        const first = await open(address);
        await say(first, once(pay(to)));
        await button(first, 'Approve').click();
        await shows(first, `paid 1 to ${to}`);
        const page = await again(first);
        await shows(page, `paid 1 to ${to}`);
        await say(page, [{ text: 'Thanks.' }]);
        await page.getByText('Done.').waitFor();
        expect(ran(`pay ${to} 1`)).toBe(1);
        expect([await count(page, '[data-tool]'), await count(page, '[data-role=user]')]).toEqual([1, 2]);
      });

      test('after the user has written while the request is open', async () => {
        const to = id('wrote');
        const first = await open(address);
        await say(first, once(pay(to)));
        await button(first, 'Approve').waitFor();
        await say(first, [{ text: 'As you wish.' }]);
        await eventually('the message is shown', async () => (await count(first, '[data-role=user]')) === 2);
        const page = await again(first);
        // The stream that is taken up brings the card anew: an answer on the old one is refused.
        if (resumes) await page.getByText('The user has written').waitFor();
        await button(page, 'Approve').first().click();
        // The AI SDK's own condition looks at the newest message only.
        await page.getByRole('button', { name: 'Send answers' }).click();
        await shows(page, `paid 1 to ${to}`);
        expect(ran(`pay ${to} 1`)).toBe(1);
      });
    });
  });
});
