import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.ts';
import { approvalOf } from './approval-of.ts';
import { type AskedRun, chromium, type InboxPage, openInboxPage, passUndo, undoMs } from './inbox-page.ts';
import { inTime, secondsInTime } from '../../support/in-time.ts';
import { last } from '../../support/team.ts';

/** People answer in a real browser. */

const withChromium = chromium === undefined ? describe.skip : describe;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

withChromium('the view of a request (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const rules = [
      ...secondsInTime(5).map((seconds) => {
        const when = `has(args.seconds) && args.seconds == ${seconds}`;
        return { id: `short-${seconds}`, pattern: 'echo', action: 'ask', when, ask: { timeout: `${seconds}s` } };
      }),
      { id: 'named', pattern: 'wipe', action: 'ask', ask: { reviewers: [userInfo().username, 'sam'] } },
      { id: 'money', pattern: 'pay', action: 'ask', reason: 'Money leaves' },
    ];
    inbox = await openInboxPage({ agentPolicy: { version: 1, rules } });
  });
  afterAll(() => inbox?.close());

  const settlement = async ({ requestId, workflowId }: AskedRun) =>
    (await inbox.world.client.approvals.get(requestId, { workflowId })).settled;

  test('an approval is held back, can be undone, and is sent when the time is over', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'bob', amount: 20 });
    await inbox.show(asked);
    await button(page, 'Approve').click();
    await page.getByRole('progressbar', { name: 'Time to undo' }).waitFor();
    await button(page, 'Undo').click();
    await page.getByText('Undone. Nothing was sent.').waitFor();
    expect(await settlement(asked)).toBeUndefined();

    await button(page, 'Approve').click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    expect(await button(page, 'Approve').count()).toBe(0);
    expect((await asked.run.result()).output).toBe('done');
    expect(world.ran()).toContain('pay bob 20');
    const settled = await settlement(asked);
    expect(settled).toMatchObject({ outcome: 'approved', viewed: { channel: 'inbox' } });
    expect(settled!.viewed!.card).toMatch(/^[0-9a-f]{64}$/);
    expect(settled!.viewed!.durationMs).toBeGreaterThan(0);
  });

  test('an approval opens the next request, and is sent when its page is closed, unless it was undone', async () => {
    const { page } = inbox;
    const [undone, closed] = [
      await inbox.ask('pay', { to: 'eve', amount: 1 }),
      await inbox.ask('pay', { to: 'ben', amount: 2 }),
    ];
    const other = await inbox.otherPage();
    await other.goto(`${inbox.world.gateway.url}/inbox/requests/${closed.workflowId}/${closed.requestId}`);
    await button(other, 'Approve').click();
    await other.getByRole('heading', { name: 'Pay: to eve' }).waitFor();
    await button(other, 'Undo').waitFor();
    expect(await settlement(closed)).toBeUndefined();
    await other.close({ runBeforeUnload: true });
    expect((await closed.run.result()).output).toBe('done');
    expect(await settlement(closed)).toMatchObject({ outcome: 'approved', viewed: { channel: 'inbox' } });

    const next = await inbox.ask('pay', { to: 'carl', amount: 2 });
    await inbox.show(undone);
    await button(page, 'Approve').click();
    await page.getByRole('heading', { name: 'Pay: to carl' }).waitFor();
    // It follows over other views, where one key takes it back.
    await page.getByRole('link', { name: '← Inbox' }).click();
    await page.getByRole('heading', { name: /^Inbox/ }).waitFor();
    await page.getByRole('region', { name: 'Your last answer' }).getByText('Pay: to eve').waitFor();
    await page.keyboard.press('z');
    await page.getByRole('heading', { name: 'Pay: to eve' }).waitFor();
    await page.getByText('Undone. Nothing was sent.').waitFor();
    await page.clock.runFor(undoMs);
    expect(await settlement(undone)).toBeUndefined();

    // The approval of the next one sends the one before at once.
    await button(page, 'Approve').click();
    await page.getByRole('heading', { name: 'Pay: to carl' }).waitFor();
    await button(page, 'Approve').click();
    expect((await undone.run.result()).output).toBe('done');
    await passUndo(page);
    expect((await next.run.result()).output).toBe('done');
  });

  test('an approval shortly before the deadline is sent at once', async () => {
    const { page } = inbox;
    // Each of these deadlines is nearer than the end of the time to undo.
    const { played: output } = await inTime(5, async (seconds) => {
      const asked = await inbox.ask('echo', { seconds });
      await inbox.show(asked);
      await button(page, 'Approve').click({ timeout: seconds * 1_000 });
      await asked.run.result();
      return (await settlement(asked))?.outcome;
    });
    expect(output).toBe('approved');
  });

  test('what the user writes meanwhile is on the card before an approval is sent', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'lea', amount: 8 }, undefined, { session: true });
    await inbox.show(asked);
    await button(page, 'Approve').click();
    await button(page, 'Undo').waitFor();
    await world.client.message(asked.workflowId, { content: 'Never mind, do not pay Lea' });
    await passUndo(page);
    await page.getByText('Not sent: the request has changed. Look at it again.').waitFor();
    await page.getByText('Never mind, do not pay Lea').waitFor();
    await button(page, 'Continue').click();
    expect(await settlement(asked)).toBeUndefined();
    await page.locator('button[aria-disabled=false]', { hasText: /^Approve$/ }).click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    expect(await settlement(asked)).toMatchObject({ outcome: 'approved', viewed: { userMessages: 1 } });
    await asked.run.handle.terminate();
  });

  test('while the request is read once more before an approval is sent, it can be undone, left, or change', async () => {
    const { page } = inbox;
    const asked = await inbox.ask('pay', { to: 'kim', amount: 6 });
    await inbox.show(asked);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/approve/')) sent.push(request.url());
    });
    let goOn = Promise.withResolvers<void>();
    let isHeld = true;
    let amount = 6;
    const readings: Promise<void>[] = [];
    const path = `**/approvals/${asked.requestId}?*`;
    await page.route(path, async (route) => {
      const reading = (async () => {
        if (isHeld) await goOn.promise;
        const response = await route.fetch();
        const json = (await response.json()) as { request: { arguments: object } };
        Object.assign(json.request.arguments, { amount });
        await route.fulfill({ response, json });
      })();
      readings.push(reading);
      await reading;
    });
    const approveAndWait = async (): Promise<void> => {
      goOn = Promise.withResolvers();
      isHeld = true;
      await page.locator('button[aria-disabled=false]', { hasText: /^Approve$/ }).click();
      await passUndo(page);
      await page.getByText('(0 s)', { exact: true }).waitFor();
    };
    const letGoOn = async (): Promise<void> => {
      isHeld = false;
      goOn.resolve();
      await Promise.all(readings.splice(0));
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    };
    await approveAndWait();
    expect(await button(page, 'Deny …').isVisible()).toBe(false);
    await button(page, 'Undo').click();
    await page.getByText('Undone. Nothing was sent.').waitFor();
    await letGoOn();

    await approveAndWait();
    // A reading that began later is the first to see the other text.
    isHeld = false;
    amount = 600;
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByText('Changed since you opened it').waitFor();
    await letGoOn();
    expect(sent).toEqual([]);
    await button(page, 'Continue').click();

    await approveAndWait();
    await page.getByRole('link', { name: '← Inbox' }).click();
    expect(sent).toEqual([]);
    await letGoOn();
    await page.unroute(path);
    expect((await asked.run.result()).output).toBe('done');
    expect(sent).toHaveLength(1);
  });

  test('a denial with its reason, with the keyboard only', async () => {
    const { page } = inbox;
    const asked = await inbox.ask('pay', { to: 'bob', amount: 21 }, [last]);
    await inbox.show(asked);
    // One accidental key decides nothing.
    await page.locator('[data-form=approve][aria-disabled=false]').waitFor();
    await page.keyboard.press('a');
    await page.getByText('Press Enter to approve.').waitFor();
    await page.keyboard.press('d');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('No receipt');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText(/^You \w+ this at/).waitFor();
    expect((await asked.run.result()).output).toBe('Denied: No receipt');
  });

  test('Escape leaves the form, then the request; Ctrl-Enter sends the form, and u leads to the list', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'kay', amount: 22 }, [last]);
    await inbox.show(asked);
    await page.locator('[data-form=approve][aria-disabled=false]').waitFor();
    const form = page.getByRole('form');
    await page.keyboard.press('t');
    await page.getByLabel('Extend by').waitFor();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await page.keyboard.press('d');
    await page.locator('textarea:focus').waitFor();
    // The focus may be outside the form.
    await page.locator('article.card h1').click();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.waitForURL(`${world.gateway.url}/inbox/`);
    await inbox.show(asked);
    await page.locator('[data-form=approve][aria-disabled=false]').waitFor();
    await page.keyboard.press('d');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('Too much');
    await page.keyboard.press('Enter');
    expect(await settlement(asked)).toBeUndefined();
    await page.keyboard.press('Control+Enter');
    await page.getByText(/^You denied this at/).waitFor();
    await page.keyboard.press('u');
    await page.waitForURL(`${world.gateway.url}/inbox/`);
    expect((await asked.run.result()).output).toMatch(/^Denied: Too much/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('back to the list', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('an edit with an invalid value is refused at its field, and a valid one runs', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'dora', amount: 20 });
    await inbox.show(asked);
    await button(page, 'Edit …').click();
    const form = page.getByRole('form', { name: 'Edit the arguments' });
    await form.getByLabel('amount').fill('much');
    await form.getByText('Write a number').waitFor();
    expect(await form.getByLabel('amount').getAttribute('aria-invalid')).toBe('true');
    const send = form.getByRole('button', { name: 'Approve with these arguments' });
    expect(await send.getAttribute('aria-disabled')).toBe('true');

    // What only the tool's schema refuses, the gateway says, and the field shows it.
    await form.getByLabel('amount').fill('30');
    await form.getByLabel('Edit as JSON').check();
    await form.getByLabel('All arguments as JSON').fill('{"to": 5, "amount": 30}');
    await form.getByLabel('Edit as JSON').uncheck();
    await send.click();
    await passUndo(page);
    await form.locator('.field', { hasText: 'to' }).getByText('expected string').waitFor();
    expect(await settlement(asked)).toBeUndefined();

    await form.getByLabel('Edit as JSON').check();
    await form.getByLabel('All arguments as JSON').fill('{"to": "dora", "amount": 30}');
    const changes = form.locator('.changes');
    expect(await changes.textContent()).toContain('20');
    expect(await changes.textContent()).toContain('30');
    await send.click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    await asked.run.result();
    expect(world.ran()).toContain('pay dora 30');
  });

  test('an open form has the only button that approves, and the undo bar says what is approved', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'nia', amount: 412.5 });
    await inbox.show(asked);
    await button(page, 'Edit …').click();
    const form = page.getByRole('form', { name: 'Edit the arguments' });
    await form.getByLabel('amount').fill('1');
    expect(await page.getByRole('button', { name: /^Approve/ }).allTextContents()).toEqual([
      'Approve with these arguments',
    ]);
    await page.keyboard.press('Tab');
    await form.getByRole('button', { name: 'Approve with these arguments' }).click();
    await page.getByText('Approved with your changes: amount 412.5 → 1').waitFor();
    await button(page, 'Undo').click();
    await form.locator('button:focus', { hasText: 'Approve with these arguments' }).waitFor();
    expect(await form.getByLabel('amount').inputValue()).toBe('1');
    await form.getByRole('button', { name: 'Approve with these arguments' }).click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    await page.getByText('Changed before it ran: amount 412.5 → 1').waitFor();
    await asked.run.result();
    await page.goto(`${world.gateway.url}/inbox/runs/${asked.workflowId}`);
    await page.getByText('changed by a reviewer: amount 412.5 → 1').waitFor();
    expect(world.ran()).toContain('pay nia 1');
    expect(world.ran()).not.toContain('pay nia 412.5');
  });

  test('a request that expires while it is read says so, and its buttons go', async () => {
    const { page } = inbox;
    const { played: asked } = await inTime(5, async (seconds) => {
      const soon = await inbox.ask('echo', { seconds });
      await inbox.show(soon);
      await button(page, 'Approve').or(page.getByText('No answer in time')).first().waitFor();
      return soon;
    });
    await page
      .getByText(/deadline has passed|No answer in time/)
      .first()
      .waitFor();
    await button(page, 'Approve').waitFor({ state: 'detached' });
    await page.getByText('No answer in time').waitFor();
    expect(await settlement(asked)).toMatchObject({ outcome: 'expired' });
  });

  test('what another person decides meanwhile is told with their name, and drops an approval that is held back', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'fay', amount: 3 });
    await inbox.show(asked);
    await button(page, 'Approve').click();
    await button(page, 'Undo').waitFor();
    const { requestId, workflowId } = asked;
    await world.client.decide(
      { requestId, approved: false, reviewerId: 'rita', reason: 'I know this one' },
      { workflowId },
    );
    await page.getByText('rita denied this at').waitFor();
    expect(await button(page, 'Undo').count()).toBe(0);
    await page.getByText('I know this one').first().waitFor();
    expect(await button(page, 'Approve').count()).toBe(0);
    expect(await button(page, 'Deny …').count()).toBe(0);
  });

  test('of two browsers that answer at the same time, one wins, and both say which', async () => {
    const asked = await inbox.ask('pay', { to: 'gus', amount: 4 }, [last]);
    const pages = [inbox.page, await inbox.otherPage()];
    for (const page of pages) {
      await page.goto(`${inbox.world.gateway.url}/inbox/requests/${asked.workflowId}/${asked.requestId}`);
      await button(page, 'Deny …').click();
      await page.getByLabel('Reason').fill(`page ${pages.indexOf(page)}`);
    }
    // Neither answer goes on before both were sent.
    const bothSent = Promise.withResolvers<void>();
    let sent = 0;
    await inbox.browser.context.route('**/approve/**', async (route) => {
      sent += 1;
      if (sent === pages.length) bothSent.resolve();
      await bothSent.promise;
      await route.continue();
    });
    await Promise.all(pages.map((page) => button(page, 'Deny').click()));
    const { output } = await asked.run.result();
    const winner = pages.findIndex((_, index) => output === `Denied: page ${index}`);
    expect([0, 1]).toContain(winner);
    await pages[winner]!.getByText(/^You \w+ this at/).waitFor();
    await pages[1 - winner]!.getByText(/(?<!You) denied this at/).waitFor();
    await inbox.browser.context.unroute('**/approve/**');
    await pages[1]!.close();
  });

  test('an answer whose receipt is lost is sent again, and counts once', async () => {
    const { page } = inbox;
    const asked = await inbox.ask('pay', { to: 'hal', amount: 5 }, [last]);
    await inbox.show(asked);
    const bodies: unknown[] = [];
    await page.route('**/approve/**', async (route) => {
      bodies.push(route.request().postDataJSON());
      if (bodies.length > 1) return route.continue();
      // The gateway gets it; the page does not get the answer.
      await route.fetch();
      return route.abort();
    });
    await button(page, 'Deny …').click();
    await button(page, 'Deny').click();
    await page.getByText(/^You \w+ this at/).waitFor();
    await page.unroute('**/approve/**');
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toEqual(bodies[0]);
    const { entries } = await inbox.world.client.journal(asked.workflowId);
    expect(entries.filter(({ kind }) => kind === 'settled')).toHaveLength(1);
    inbox.complaints.splice(0);
  });

  test('an "always" proposes the narrowest rule, and tells what a wider one would have covered', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'bob', amount: 7 }, [
      { calls: [{ tool: 'pay', args: { to: 'bobby', amount: 7 } }] },
      { text: 'both paid' },
    ]);
    await inbox.show(asked);
    await button(page, 'Always …').click();
    const form = page.getByRole('form', { name: /allow similar calls/ });
    expect(await form.getByLabel('to', { exact: true }).inputValue()).toBe('bob');
    expect(await form.getByLabel('amount', { exact: true }).inputValue()).toBe('7');
    await form.getByText(/Of \d+ past calls?, it would have covered 0|No earlier call/).waitFor();
    await form.getByLabel('to', { exact: true }).fill('eve');
    await form.getByText('This does not cover the call itself.').waitFor();
    expect(await button(page, 'Approve always').getAttribute('aria-disabled')).toBe('true');
    await form.getByLabel('to', { exact: true }).fill('bob*');
    await form.getByLabel('Any value of amount').check();
    await form.getByText('Not limited: amount').waitFor();
    // `bob` was paid in an earlier test.
    await form.getByText(/it would have covered [1-9]/).waitFor();
    await button(page, 'Approve always').click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    expect((await asked.run.result()).output).toBe('both paid');
    expect(world.ran()).toContain('pay bobby 7');
  });

  test('words beside an approval reach the decision and the model', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'joe', amount: 9 }, [last]);
    await inbox.show(asked);
    await button(page, 'Approve with a comment …').click();
    const form = page.getByRole('form', { name: 'Approve this call with a comment' });
    await form.getByLabel('Comment').fill('  ');
    expect(await button(page, 'Approve').getAttribute('aria-disabled')).toBe('true');
    await form.getByLabel('Comment').fill(' Only this once \n');
    await button(page, 'Approve').click();
    await page.getByText('Approved with your comment').waitFor();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    const { settled } = await approvalOf(world.client, asked.requestId);
    expect(settled).toMatchObject({ outcome: 'approved', reason: 'Only this once' });
    expect((await asked.run.result()).output).toMatch(/Only this once[^]*paid 9 to joe/);
    expect(world.ran()).toContain('pay joe 9');
  });

  test('more time, and an answer in the place of the tool', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'ida', amount: 8 }, [last]);
    await inbox.show(asked);
    const { deadline } = await world.client.approvals.get(asked.requestId);
    await button(page, 'Extend …').click();
    await page.getByLabel('Extend by').fill('much');
    await button(page, 'Extend').click();
    await page.getByText('Write a whole number and a unit').waitFor();
    await page.getByLabel('Extend by').fill('1m');
    await button(page, 'Extend').click();
    await eventually('the deadline moves', async () => {
      const now = await world.client.approvals.get(asked.requestId);
      return Date.parse(now.deadline!) === Date.parse(deadline!) + 60_000;
    });
    // Nobody is named, so nobody has a seat to give away.
    expect(await button(page, 'Hand over …').count()).toBe(0);
    await button(page, 'Respond …').click();
    await page.getByLabel('The model receives your text').fill('The bank was told already');
    await button(page, 'Respond').click();
    await page.getByText(/^You \w+ this at/).waitFor();
    expect((await asked.run.result()).output).toBe('The bank was told already');
  });

  test('a word behind a line break is no misleading text', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'Γεια,\n\nη παραγγελία', amount: 13 });
    await inbox.show(asked);
    await page.locator('section.run summary', { hasText: 'Arguments of pay' }).first().click();
    await page.locator('section.run pre.arguments').first().waitFor();
    expect(await page.locator('section.run pre.arguments').first().innerText()).toContain('Γεια,\\n\\nη παραγγελία');
    expect(await page.locator('section.run mark').count()).toBe(0);
    await world.client.cancel(asked.workflowId);
  });

  test('a name is asked about where no directory could know it', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('wipe', {});
    await inbox.show(asked);
    await button(page, 'Hand over …').click();
    await page.getByLabel('Hand over to').fill('bobb');
    await button(page, 'Hand over').click();
    await page.getByText("No directory knows 'bobb'. Hand over anyway?").waitFor();
    expect(await world.client.approvals.get(asked.requestId)).not.toHaveProperty('delegations');
    await button(page, 'Hand over anyway').click();
    await page.getByText('Waiting for sam or bobb.').waitFor();
    await world.client.cancel(asked.workflowId);
  });

  test('the browser complains of nothing, and asks no other server', () => {
    expect(inbox.complaints.filter((text) => !/status of (409|422|403|410)/.test(text))).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });
});
