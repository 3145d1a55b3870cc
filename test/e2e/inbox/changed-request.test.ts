import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';

/** A request is edited by somebody else while its page is open. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('a request that changes (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const large = { id: 'large', pattern: 'pay', when: 'args.amount >= 100.0', action: 'ask', reason: 'A large sum' };
    const small = { id: 'small', pattern: 'pay', action: 'ask', reason: 'A small sum' };
    const rules = [small, { ...large, ask: { quorum: 2 } }];
    inbox = await openInboxPage({ agentPolicy: { version: 1, rules } });
  });
  afterAll(() => inbox?.close());

  test('an edit that other rules ask about takes the place of the open request: nothing of it can be approved', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'bob', amount: 20 });
    await inbox.show(asked);
    await page.getByText('A small sum').first().waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();

    // While the approval is held back, a colleague edits the call.
    const { requestId, workflowId } = asked;
    const modifiedArguments = { to: 'bob', amount: 500 };
    await world.client.decide({ requestId, approved: true, modifiedArguments, reviewerId: 'ann' }, { workflowId });
    await page.getByText('ann edited its arguments at').waitFor();
    expect(await page.getByRole('button', { name: /^(Approve|Deny|Undo)/ }).count()).toBe(0);
    const { settled } = await world.client.approvals.get(requestId, { workflowId });
    expect(settled).toMatchObject({ outcome: 'superseded', by: 'edit', reviewerId: 'ann' });
    expect(world.ran()).toEqual([]);

    await page.getByRole('link', { name: 'Go to the request that continues it' }).click();
    await page.waitForURL(new RegExp(String(settled!.byId)));
    await page.getByText('A large sum').first().waitFor();
    expect(await page.locator('article.card').innerText()).toContain('500');
    expect(await page.locator('main').innerText()).toContain('ann');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    await asked.run.result();
    expect(world.ran()).toEqual(['pay bob 500']);
  });
});
