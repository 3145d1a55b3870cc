import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';

/** A person starts a run in the inbox, watches it, answers what it asks, and reads its result. */

const withChromium = chromium === undefined ? describe.skip : describe;

const turns = [
  { text: 'I look first.', calls: [{ tool: 'look', args: { what: 'the invoice' } }] },
  { text: 'Now I pay it.', calls: [{ tool: 'pay', args: { to: 'bob', amount: 20 } }] },
  { text: 'The invoice is paid.' },
];

withChromium('the whole way in the inbox (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const rules = [{ id: 'money', pattern: 'pay', action: 'ask', reason: 'Money leaves' }];
    inbox = await openInboxPage({ agentPolicy: { version: 1, rules } });
  });
  afterAll(() => inbox?.close());

  test.each([1_400, 380])('at a width of %i pixels: start, watch, approve, result', async (width) => {
    const { page, world } = inbox;
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${world.gateway.url}/inbox/start`);
    await page.getByRole('combobox', { name: 'Agent' }).fill('tester');
    await page.getByRole('textbox', { name: 'Task' }).fill(JSON.stringify(turns));
    await page.getByRole('button', { name: 'Start', exact: true }).click();

    await page.waitForURL(/\/inbox\/runs\/[^/]+$/);
    const workflowId = decodeURIComponent(page.url().split('/').at(-1)!);
    const timeline = page.getByRole('region', { name: /^Timeline/ });
    await timeline.getByText('I look first.', { exact: true }).waitFor();
    await timeline.getByText('saw the invoice').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await timeline.getByRole('link', { name: 'Pay: to bob, amount 20', exact: true }).click();

    await page.locator('article.card').waitFor();
    expect(await page.locator('article.card').innerText()).toContain('Money leaves');
    const before = world.ran().length;
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    await page.locator('section.run').getByRole('link', { name: workflowId }).click();

    await page.getByText('Timeline · ended').waitFor();
    const messages = await timeline.locator('.message').allInnerTexts();
    expect(messages.map((text) => text.split('\n')[0]!.replace(/ \d.*$/, ''))).toEqual([
      'User',
      'tester agent',
      'tester agent',
      'tester agent',
    ]);
    expect(messages[2]).toMatch(/Pay: to bob, amount 20\s+approved by .* · ran/);
    expect(await timeline.locator('.run-note').innerText()).toMatch(/^Completed/);
    for (const text of ['Now I pay it.', 'paid 20 to bob']) {
      expect(await timeline.getByText(text, { exact: true }).count()).toBe(1);
    }
    expect(await page.locator('.run-head').innerText()).toContain('completed');
    expect(world.ran().slice(before)).toEqual(['pay bob 20']);
    await page.goto(`${world.gateway.url}/inbox/runs`);
    await page.locator(`a.row-link[href$="/runs/${workflowId}"]`).waitFor();
    // The page is as wide as the screen.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  });

  test('nothing was loaded from elsewhere, and the browser complained of nothing', () => {
    expect({ foreign: inbox.foreign, complaints: inbox.complaints }).toEqual({ foreign: [], complaints: [] });
  });
});
