/** Chat front ends that people have, unchanged, in a real browser: they show requests and answer them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Agent } from '../../../src/agents/definitions.ts';
import { type Browser, findChromium, openSharedBrowser } from '../../support/browser.ts';
import { byHeader } from '../../adapters/http/chat-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { type FrontEndSite, openFrontEndSite } from './front-end-site.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { once, pay } from '../../support/team.ts';
import { testAgent } from '../../support/test-agent.ts';
import type { Turns } from '../../support/world.ts';

const chromium = findChromium();
const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('front ends that people have (needs Chromium)', () => {
  let browser: Browser;
  let world: GatewayWorld;
  let site: FrontEndSite;
  let page: Page;
  const errors: string[] = [];

  beforeAll(async () => {
    const agentsIn = (folder: string): Agent[] => {
      const rules = [
        { pattern: 'pay', action: 'ask', ask: { allow_self: true } },
        { pattern: 'wipe', action: 'ask', ask: { reviewers: ['rita'] } },
      ];
      const agent = testAgent(folder, { version: 1, rules });
      return [agent, { ...agent, name: 'support' }];
    };
    world = await openGatewayWorld({ agentsIn }, { authenticator: byHeader() });
    site = await openFrontEndSite(world.gateway.url, { 'x-person': 'ann' });
  });
  afterAll(async () => {
    await site.close();
    await world.close();
  });
  // A profile for each test: until it is closed, a page keeps its messages, and a page that finds any goes on with their thread.
  beforeEach(async () => {
    browser = await openSharedBrowser(chromium!);
    page = await browser.context.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
  });

  /** Opens a page, and says a script. */
  async function open(address: string, turns: Turns): Promise<void> {
    await page.goto(`${site.url}/${address}`);
    await page.getByLabel('Message').fill(JSON.stringify(turns));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  }
  afterEach(async () => {
    await browser.close();
    const thrown = errors.splice(0);
    if (thrown.length > 0) throw new Error(`the page threw: ${thrown.join('; ')}`);
  });

  const tool = (index = 0) => page.locator('[data-tool]').nth(index);
  const button = (name: string, index = 0) => tool(index).getByRole('button', { name });
  const ran = (to: string): string[] => world.ran().filter((line) => line.startsWith(`pay ${to} `));
  const lastText = () => page.locator('[data-role=assistant] p').last();

  describe.each(['ag-ui', 'ai-sdk'] as const)('%s', (name) => {
    test('approve: the tool runs, and its result is shown', async () => {
      await open(`${name}.html`, once(pay(`${name}-yes`, 20)));
      await button('Approve').waitFor();
      expect(await tool().locator('pre').textContent()).toBe(JSON.stringify({ to: `${name}-yes`, amount: 20 }));
      expect(ran(`${name}-yes`)).toEqual([]);
      await button('Approve').click();
      await lastText()
        .filter({ hasText: `paid 20 to ${name}-yes` })
        .waitFor();
      expect(await tool().locator('output').textContent()).toContain(`paid 20 to ${name}-yes`);
      expect(ran(`${name}-yes`)).toHaveLength(1);
    });

    test('deny: nothing runs, and the reason reaches the model', async () => {
      await open(`${name}.html`, once(pay(`${name}-no`)));
      await button('Deny').click();
      await lastText().filter({ hasText: 'Not today' }).waitFor();
      await tool().locator('output').waitFor();
      expect(ran(`${name}-no`)).toEqual([]);
    });

    test('a reload between the question and the answer', async () => {
      await open(`${name}.html`, once(pay(`${name}-reload`)));
      await button('Approve').waitFor();
      await page.reload();
      await button('Approve').click();
      await lastText()
        .filter({ hasText: `paid 1 to ${name}-reload` })
        .waitFor();
      expect(ran(`${name}-reload`)).toHaveLength(1);
    });
  });

  test('useChat: one of two answers is sent, the page is reloaded, then the other', async () => {
    await open('ai-sdk.html', once(pay('half-yes'), pay('half-no')));
    await button('Approve', 0).click();
    await page.getByRole('button', { name: 'Send answers' }).click();
    await tool(0).locator('output').waitFor();
    expect(ran('half-yes')).toHaveLength(1);
    await page.reload();
    await button('Deny', 1).click();
    await tool(1).filter({ hasText: 'Denied' }).waitFor();
    await lastText().waitFor();
    expect(ran('half-no')).toEqual([]);
    expect(ran('half-yes')).toHaveLength(1);
  });

  test('assistant-ui: arguments are edited; an edit that is refused is asked again, the other call goes on', async () => {
    await open('ag-ui.html', once(pay('edit-good'), pay('edit-bad')));
    const fields = page.locator('[data-interrupt] textarea');
    await fields.nth(1).waitFor();
    await fields.nth(0).fill(JSON.stringify({ to: 'edit-good', amount: 5 }));
    await fields.nth(1).fill(JSON.stringify({ to: 'edit-bad', amount: 'much' }));
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await eventually('the edited payment', () => ran('edit-good').length === 1);
    expect(ran('edit-good')).toEqual(['pay edit-good 5']);
    const again = page.locator('[data-interrupt]');
    await again.filter({ hasText: 'amount' }).waitFor();
    expect(await again.count()).toBe(1);
    await again.locator('textarea').fill(JSON.stringify({ to: 'edit-bad', amount: 2 }));
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await lastText().filter({ hasText: 'paid 2 to edit-bad' }).waitFor();
    expect(ran('edit-bad')).toEqual(['pay edit-bad 2']);
  });

  test("AG-UI's own client: a partial resume is kept, and the rest is an interrupt of its own", async () => {
    await open('ag-ui.html', once(pay('part-1'), pay('part-2')));
    const asked = page.locator('[data-interrupt]');
    await asked.nth(1).waitFor();
    const second = await asked.nth(1).getAttribute('data-interrupt');
    await asked.nth(0).getByRole('button', { name: 'Answer only this' }).click();
    await eventually('the rest', async () => (await page.locator('body').getAttribute('data-left')) === second);
    expect(ran('part-1')).toHaveLength(1);
    expect(ran('part-2')).toEqual([]);
    expect(await page.locator('body').getAttribute('data-told')).toContain('paid 1 to part-1');
  });

  test.each(['ag-ui', 'ai-sdk'])('the example of docs/front-ends.md for %s', async (name) => {
    await open(`examples.html?${name}`, once(pay(`example-${name}`, 3)));
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(`paid 3 to example-${name}`).first().waitFor();
    expect(ran(`example-${name}`)).toHaveLength(1);
  });

  test.each(['ag-ui', 'ai-sdk'])(
    'the example for %s says for whom a call waits, and goes on after the answer',
    async (name) => {
      await open(`examples.html?${name}`, once({ tool: 'wipe', args: {} }));
      const waits = page.getByRole('list', { name: 'Waiting for' });
      await waits.getByText(/^Wipe.* · waiting for rita until \d\d:\d\d/).waitFor();
      // The user's own approval would be refused, so it is not offered.
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      const address = await waits.getByRole('link', { name: 'Open in the inbox' }).getAttribute('href');
      const [, workflowId, requestId] = /\/inbox\/requests\/([^/]+)\/([0-9a-f]{32})$/.exec(address!)!;
      expect(address).toBe(`${world.gateway.url}/inbox/requests/${workflowId}/${requestId}`);
      await world.client.decide(
        { requestId: requestId!, approved: true, reviewerId: 'rita' },
        { workflowId: decodeURIComponent(workflowId!) },
      );
      await page.getByText('wiped').first().waitFor();
      expect(await waits.getByRole('listitem').count()).toBe(0);
    },
  );
});

test('docs/front-ends.md names the examples, and they type-check with the pages', () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const manual = readFileSync(join(root, 'docs/front-ends.md'), 'utf8');
  for (const name of ['chat-requests.ts', 'waiting-for.tsx', 'assistant-ui.tsx', 'use-chat.tsx'])
    expect(manual).toContain(`[${name}](../examples/chat/${name})`);
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, ['-p', 'test/fixtures/front-ends'], { cwd: root, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});
