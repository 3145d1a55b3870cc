import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AskedRun, chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** The list beside the open request, on a wide screen. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('a wide screen (needs Chromium)', () => {
  let inbox: InboxPage;
  const asked: AskedRun[] = [];
  beforeAll(async () => {
    const rules = [{ id: 'all', pattern: '*', action: 'ask' }];
    inbox = await openInboxPage({ agentPolicy: { version: 1, rules, approval: { show: { pay: ['to', 'amount'] } } } });
    await inbox.page.setViewportSize({ width: 1_500, height: 900 });
    for (const to of ['ann', 'bea', 'cas']) asked.push(await inbox.ask('pay', { to, amount: 1 }));
    await inbox.ask('wipe', {});
  });
  afterAll(() => inbox?.close());

  const row = (text: string) => inbox.page.locator('.requests li', { hasText: text });
  const card = (text: string) => inbox.page.locator('article.card', { hasText: text });

  test('the list stays beside the request, with its filters, its selection and its place', async () => {
    const { page, world } = inbox;
    await page.goto(`${world.gateway.url}/inbox/?tool=pay`);
    await row('bea').getByRole('checkbox').check();
    await page.getByText('Choose a request on the left.').waitFor();
    await row('ann').getByRole('link').click();
    await card('ann').waitFor();
    expect(new URL(page.url()).search).toBe('?tool=pay');
    expect(await row('ann').getByRole('link').getAttribute('aria-current')).toBe('true');
    await page.getByText('1 selected').waitFor();
    expect(await row('Wipe').count()).toBe(0);
    await page.reload();
    await card('ann').waitFor();
    await row('cas').waitFor();
    expect(await row('Wipe').count()).toBe(0);
  });

  test('n goes through the filtered list, and back leads through it again', async () => {
    const { page } = inbox;
    for (const next of ['bea', 'cas', 'ann']) {
      await page.keyboard.press('n');
      await card(next).waitFor();
    }
    await page.goBack();
    await card('cas').waitFor();
    expect(new URL(page.url()).search).toBe('?tool=pay');
  });

  test('keys are for the request, and for the list while the focus is there', async () => {
    const { page } = inbox;
    await page.locator('[data-form="deny"][aria-disabled="false"]').waitFor();
    await page.keyboard.press('d');
    await page.locator('textarea:focus').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    // From the row of the open request on.
    await page.keyboard.press('k');
    expect(await page.locator('a.open:focus').textContent()).toContain('bea');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    expect(await row('bea').getByRole('checkbox').isChecked()).toBe(true);
    await page.keyboard.press('x');
    await page.keyboard.press('Enter');
    await card('bea').waitFor();
  });

  test('an approval takes its row away at once, opens the next request, and an undo brings it back', async () => {
    const { page, world } = inbox;
    const request = asked[1]!;
    await page.locator('[data-form="approve"][aria-disabled="false"]').click();
    await card('cas').waitFor();
    await row('bea').waitFor({ state: 'detached' });
    // Nothing was sent yet.
    expect(await world.client.approvals.get(request.requestId)).not.toHaveProperty('settled');
    await page.keyboard.press('z');
    await card('bea').waitFor();
    await row('bea').waitFor();
  });

  test('a narrow window shows one at a time, and the way back keeps the filters', async () => {
    const { page } = inbox;
    await page.setViewportSize({ width: 900, height: 900 });
    await page.locator('.requests').waitFor({ state: 'detached' });
    await card('bea').waitFor();
    await page.getByRole('link', { name: '← Inbox' }).click();
    await row('cas').waitFor();
    expect(new URL(page.url()).search).toBe('?tool=pay');
    expect(await page.locator('a.open:focus').textContent()).toContain('bea');
    expect(await page.locator('article.card').count()).toBe(0);
  });

  test('the browser complained of nothing', () => {
    expect(inbox.complaints).toEqual([]);
  });
});
