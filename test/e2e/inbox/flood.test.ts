import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startListed } from '../../support/listed-requests.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** More open requests than the page has room for, in a real browser. */

const flood = 2_000;
const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('a flood of requests (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    inbox = await openInboxPage();
    const tickets = Array.from({ length: flood }, (_, index) => [
      { toolName: 'open_ticket', agentName: 'bot', reviewers: [], sentence: `Open ticket ${index}` },
    ]);
    const wire = { toolName: 'wire_transfer', severity: 'critical' as const, reviewers: [] };
    const deadline = new Date(Date.now() + 7_200_000).toISOString();
    const others = [{ ...wire, sentence: 'Send 48,250 EUR to Lightworks Ltd', deadline }];
    const turn = Array.from({ length: 14 }, (_, index) => ({
      toolName: 'close_ticket',
      agentName: 'closer',
      reviewers: [],
      sentence: `Close ticket ${index}`,
      shownArguments: { ticket: `number ${index}` },
      notShown: [],
      shown: 'all' as const,
    }));
    await startListed(inbox.world.client.session, [...tickets, others, turn]);
  });
  afterAll(() => inbox?.close());

  const total = (flood + 15).toLocaleString('en');
  const rows = () => inbox.page.locator('.requests li');

  test('the numbers of page and tab are true', async () => {
    const { page, world } = inbox;
    await page.goto(world.gateway.url);
    await page.locator('.tabs a', { hasText: `Anyone ${total}` }).waitFor();
    await page.getByText(`The first 200 of ${total}.`).waitFor();
    expect(await page.title()).toBe(`(${flood + 15}) Inbox · Countersign`);
    // The 14 requests of one run are one row.
    expect(await rows().count()).toBe(200);
  });

  test('search finds what is not on the page, however it is written', async () => {
    const { page } = inbox;
    for (const text of ['lightworks', 'Lіghtworks 48,250', 'wire']) {
      await page.getByLabel('Search').fill(text);
      await rows().filter({ hasText: 'Lightworks' }).waitFor();
      await eventually('1 rows', async () => (await rows().count()) === 1);
    }
    await page.getByLabel('Search').fill('none such');
    await page.getByText('No open request matches.').waitFor();
    await page.getByText('2,001 requests have values that the list does not hold.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Sort by').selectOption('severity');
    await rows().first().filter({ hasText: 'Lightworks' }).waitFor();
  });

  test('the requests of one run are one row, which unfolds to its calls in their order', async () => {
    const { page } = inbox;
    await page.getByLabel('Agent').selectOption('closer');
    const group = page.getByRole('button', { name: 'close_ticket × 14' });
    await group.waitFor();
    expect(await rows().count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await eventually('15 rows', async () => (await rows().count()) === 15);
    const sentences = await page.locator('.requests a.open').allTextContents();
    expect(sentences).toEqual(Array.from({ length: 14 }, (_, index) => `Close ticket ${index}`));
    await group.click();
    await eventually('1 rows', async () => (await rows().count()) === 1);
    await page.getByRole('button', { name: 'Deny 14 …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deny 14 requests' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('the browser complained of nothing', () => {
    expect(inbox.complaints).toEqual([]);
  });
});
