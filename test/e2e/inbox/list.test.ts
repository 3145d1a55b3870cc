import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type AskedRun, chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';

/** The list of open requests in a real browser. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('the list of open requests (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const rules = [{ id: 'all', pattern: '*', action: 'ask' }];
    inbox = await openInboxPage({ agentPolicy: { version: 1, rules, approval: { show: { pay: ['to', 'amount'] } } } });
  });
  afterAll(() => inbox?.close());

  const row = (text: string) => inbox.page.locator('.requests li', { hasText: text });
  const answer = ({ requestId, workflowId }: AskedRun, approved: boolean) =>
    inbox.world.client.decide({ requestId, approved, reviewerId: 'rita' }, { workflowId });

  test('an empty inbox says so, and a request appears and goes by itself', async () => {
    const { page, world } = inbox;
    await page.goto(world.gateway.url);
    await page.getByText('Nothing waits for an answer').waitFor();
    expect(page.url()).toBe(`${world.gateway.url}/inbox/`);
    const asked = await inbox.ask('pay', { to: 'ann', amount: 1 });
    await row('Pay: to ann, amount 1').waitFor();
    for (const text of ['left', 'asked', 'agent tester', 'anyone can answer']) {
      expect(await row('Pay: to ann').textContent()).toContain(text);
    }
    await answer(asked, false);
    await row('Pay: to ann').waitFor({ state: 'detached' });
    await page.getByText('Nothing waits for an answer').waitFor();
    await page.getByRole('link', { name: 'Decided' }).click();
    const decided = page.locator('.rows li', { hasText: 'by rita' });
    await decided.getByText('denied').waitFor();
    await decided.getByRole('link', { name: 'pay' }).click();
    await page.locator('article.card').waitFor();
    await page.goto(`${world.gateway.url}/inbox/`);
  });

  test('filters are in the address, and a link with them shows the same', async () => {
    const { page, world } = inbox;
    const pay = await inbox.ask('pay', { to: 'bea', amount: 2 });
    const wipe = await inbox.ask('wipe', {});
    await row('Pay: to bea').waitFor();
    await row('Wipe').waitFor();
    await page.getByLabel('Tool').selectOption('wipe');
    await row('Pay: to bea').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?tool=wipe');
    await page.reload();
    await row('Wipe').waitFor();
    expect(await row('Pay: to bea').count()).toBe(0);
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByText('No open request matches.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await row('Pay: to bea').waitFor();
    expect(page.url()).toBe(`${world.gateway.url}/inbox/`);
    await answer(pay, false);
    await answer(wipe, false);
    await row('Wipe').waitFor({ state: 'detached' });
  });

  test('with the keyboard only: move, open with an answer prepared, and answer', async () => {
    const { page, world } = inbox;
    const [first, second] = [
      await inbox.ask('pay', { to: 'cas', amount: 3 }),
      await inbox.ask('pay', { to: 'dan', amount: 4 }),
    ];
    await row('Pay: to dan').waitFor();
    await row('Pay: to cas').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    expect(await page.locator('a.open:focus').textContent()).toContain('Pay: to dan');
    await page.keyboard.press('a');
    await page.waitForURL(/answer=approve$/);
    await page.getByText('Press Enter to approve.').waitFor();
    // The key alone has sent nothing.
    expect(await world.client.approvals.get(second.requestId)).not.toHaveProperty('settled');
    await page.keyboard.press('Enter');
    await page.getByText('Press Enter to approve.').waitFor({ state: 'detached' });
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: 'Pay: to cas, amount 3' }).waitFor();
    await answer(first, false);
    await page.getByText('rita denied this at').waitFor();
    await page.goto(world.gateway.url);
  });

  test('one answer to a frozen set, with a result for each; one was settled elsewhere', async () => {
    const { page, world } = inbox;
    const eli = await inbox.ask('pay', { to: 'eli', amount: 5 });
    // Its run waits for a second answer, too.
    const fin = await world.start([
      {
        calls: [
          { tool: 'pay', args: { to: 'fin', amount: 6 } },
          { tool: 'wipe', args: {} },
        ],
      },
    ]);
    const [paid] = await fin.open(2);
    await inbox.ask('pay', { to: 'gil', amount: 7 });
    for (const name of ['eli', 'fin', 'gil']) await row(`Pay: to ${name}`).getByRole('checkbox').check();
    await page.getByText('3 selected').waitFor();
    await page.keyboard.press('d');
    const dialog = page.getByRole('dialog', { name: 'Deny 3 requests' });
    await dialog.waitFor();
    // What comes now does not join, and what goes stays in the set.
    const late = await inbox.ask('pay', { to: 'late', amount: 8 });
    await world.client.decide({ requestId: paid!.requestId, approved: true, reviewerId: 'rita' });
    await row('Pay: to late').waitFor();
    await row('Pay: to fin').waitFor({ state: 'detached' });
    expect(await dialog.locator('ol li').count()).toBe(3);
    await dialog.getByLabel('Reason').fill('Closed today');
    await dialog.getByRole('button', { name: 'Deny 3' }).click();
    const results = page.getByRole('dialog', { name: 'Results' });
    await results.waitFor();
    const texts = await results.locator('li').allTextContents();
    expect(texts[0]).toMatch(/eli.*denied/);
    expect(texts[1]).toMatch(/fin.*settled elsewhere by rita/);
    expect(texts[2]).toMatch(/gil.*denied/);
    await results.getByRole('button', { name: 'Done' }).click();
    await page.getByText('3 selected').waitFor({ state: 'detached' });
    expect(await world.client.approvals.get(late.requestId)).not.toHaveProperty('settled');
    await eventually('it runs', () => world.ran().includes('pay fin 6'));
    await world.client.cancel(fin.workflowId);
    await row('Wipe').waitFor({ state: 'detached' });
    const { settled } = await world.client.approvals.get(eli.requestId);
    expect(settled).toMatchObject({
      outcome: 'denied',
      reason: 'Closed today',
      viewed: { channel: 'inbox', batch: 3 },
    });
    await answer(late, false);
  });

  test('several approvals show every argument, can be undone, and are sent when the time is over', async () => {
    const { page, world } = inbox;
    const asked = [await inbox.ask('pay', { to: 'uma', amount: 5 }), await inbox.ask('pay', { to: 'val', amount: 6 })];
    await row('Pay: to val').waitFor();
    await page.getByLabel(/^Select all \d/).check();
    await page.getByText('2 selected').waitFor();
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog', { name: 'Approve 2 requests' });
    await dialog.waitFor();
    const fields = await dialog.locator('.frozen dd').allTextContents();
    expect(fields.map((each) => each.replace('money', ''))).toEqual(
      ['uma', '5', 'val', '6'].map((each) => expect.stringContaining(each)),
    );
    const approve = dialog.getByRole('button', { name: 'Approve 2' });
    await approve.click();
    await dialog.getByText('Approving 2 requests. You can still undo it.').waitFor();
    await dialog.getByRole('button', { name: 'Undo' }).click();
    for (const { requestId } of asked)
      expect(await world.client.approvals.get(requestId)).not.toHaveProperty('settled');
    await approve.click();
    await passUndo(page);
    const results = page.getByRole('dialog', { name: 'Results' });
    await results.waitFor();
    for (const text of await results.locator('li').allTextContents()) expect(text).toMatch(/approved$/);
    await results.getByRole('button', { name: 'Done' }).click();
    for (const { run } of asked) expect((await run.result()).status).toBe('completed');
    expect(world.ran()).toEqual(expect.arrayContaining(['pay uma 5', 'pay val 6']));
  });

  test('an answer to several that is under way cannot be closed, and is sent again as it was if its receipts are lost', async () => {
    const { page, world } = inbox;
    await page.goto(world.gateway.url);
    for (const name of ['ida', 'jan']) {
      await inbox.ask('pay', { to: name, amount: 5 });
      await row(`Pay: to ${name}`).getByRole('checkbox').check();
    }
    const goOn = Promise.withResolvers<void>();
    const bodies: unknown[] = [];
    await page.route('**/approvals/decide', async (route) => {
      bodies.push(route.request().postDataJSON());
      await goOn.promise;
      // The gateway gets it; the page does not get the answer.
      if (bodies.length <= 3) await route.fetch();
      return bodies.length <= 3 ? route.abort() : route.continue();
    });
    await page.keyboard.press('d');
    const dialog = page.getByRole('dialog', { name: 'Deny 2 requests' });
    await dialog.getByRole('button', { name: 'Deny 2' }).click();
    await dialog.getByText('Sending …').waitFor();
    for (const key of ['Escape', 'Escape', 'Escape']) await page.keyboard.press(key);
    expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    goOn.resolve();
    await dialog.getByText('The gateway did not say whether it has your answer.').waitFor();
    await dialog.getByRole('button', { name: 'Send it again' }).click();
    const results = page.getByRole('dialog', { name: 'Results' });
    await results.waitFor();
    for (const text of await results.locator('li').allTextContents()) expect(text).toMatch(/denied$/);
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(bodies).toHaveLength(4);
    await results.getByRole('button', { name: 'Done' }).click();
    await page.unroute('**/approvals/decide');
    inbox.complaints.splice(0);
  });

  test('the browser complained of nothing, and asked no other server', () => {
    expect(inbox.complaints).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });

  test('a gateway that is gone is told, and what was listed stays', async () => {
    const { page, world } = inbox;
    await inbox.ask('pay', { to: 'hum', amount: 9 });
    await row('Pay: to hum').waitFor();
    await world.gateway.stop();
    await page.getByText('The gateway cannot be reached.').waitFor();
    expect(await row('Pay: to hum').count()).toBe(1);
  });
});
