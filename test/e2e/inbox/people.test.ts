import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { approvalOf } from './approval-of.ts';
import { axeFindings } from './axe.ts';
import type { Turns } from '../../support/world.ts';
import { eventually } from '../../support/eventually.ts';
import { type Browser, openSharedBrowser } from '../../support/browser.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { type AskedRun, chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';

/** Several people, each in a browser of their own. */

const withChromium = chromium === undefined ? describe.skip : describe;

const rita = makeToken('rita', ['viewer', 'reviewer']);
const sam = makeToken('sam', ['viewer', 'reviewer']);
const zoe = makeToken('zoe', ['viewer', 'reviewer']);
const olga = makeToken('olga', ['viewer', 'operator']);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

withChromium('several people (needs Chromium)', () => {
  let inbox: InboxPage;
  let other: Browser;
  let otherPage: Page;
  beforeAll(async () => {
    const rules = [
      { pattern: 'pay', action: 'ask', ask: { reviewers: ['rita', 'sam'] } },
      { pattern: 'wipe', action: 'ask', ask: { reviewers: ['sam'] } },
    ];
    const identity = identityOf({ tokens: [rita.entry, sam.entry, zoe.entry, olga.entry] });
    const directory = { people: { ida: { name: 'Ida Holm', also: ['u-17'] }, zoe: { groups: ['chiefs'] } } };
    const escalate = [{ after: '300ms', to: ['group:chiefs'] }];
    const policy = {
      version: 1,
      rules: [
        { pattern: '*', action: 'allow' },
        { pattern: 'echo', action: 'ask', ask: { reviewers: ['sam'], escalate } },
      ],
      directory,
    };
    inbox = await openInboxPage({ agentPolicy: { version: 1, rules }, policy }, { identity });
    await inbox.page.setExtraHTTPHeaders(rita.bearer);
    other = await openSharedBrowser(chromium!);
    await other.context.clock.install();
    otherPage = await other.context.newPage();
  });
  afterAll(async () => {
    await other?.close();
    await inbox?.close();
  });

  const addressOf = ({ workflowId, requestId }: AskedRun): string =>
    `${inbox.world.gateway.url}/inbox/requests/${workflowId}/${requestId}`;

  test('two browsers approve and deny at the same time: one wins, and the other reads who, how and when', async () => {
    const asked = await inbox.ask('pay', { to: 'gus', amount: 4 });
    await otherPage.setExtraHTTPHeaders(sam.bearer);
    const people = [
      { name: 'rita', outcome: 'approved', page: inbox.page },
      { name: 'sam', outcome: 'denied', page: otherPage },
    ];
    // Neither answer goes on before both were sent.
    const bothSent = Promise.withResolvers<void>();
    let sent = 0;
    for (const { page } of people) {
      await page.goto(addressOf(asked));
      await page.route('**/approve/**', async (route) => {
        sent += 1;
        if (sent === people.length) bothSent.resolve();
        await bothSent.promise;
        await route.continue();
      });
    }
    await button(inbox.page, 'Approve').click();
    await passUndo(inbox.page);
    await button(otherPage, 'Deny …').click();
    await button(otherPage, 'Deny').click();
    await asked.run.result();
    const { settled } = await approvalOf(inbox.world.client, asked.requestId);
    const winner = people.find(({ name }) => name === settled!.reviewerId)!;
    const loser = people.find(({ name }) => name !== settled!.reviewerId)!;
    expect(settled!.outcome).toBe(winner.outcome);
    await winner.page.getByText(`You ${winner.outcome} this at`).waitFor();
    const note = loser.page.getByRole('region', { name: 'How it stands' });
    await note.waitFor();
    expect(await note.textContent()).toMatch(
      new RegExp(`${winner.name} ${winner.outcome} this at \\d\\d:\\d\\d:\\d\\d`),
    );
    expect(await note.locator('time').getAttribute('datetime')).toBe(settled!.settledAt);
    expect(inbox.world.ran()).toEqual(winner.name === 'rita' ? ['pay gus 4'] : []);
    for (const { page } of people) await page.unroute('**/approve/**');
    inbox.complaints.splice(0);
  });

  test('who is not named is told who can answer, and gets no button whose answer would be refused', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('wipe', {});
    await inbox.show(asked);
    await page.getByText('Waiting for sam.').waitFor();
    for (const name of ['Approve', 'Deny …', 'Hand over …']) expect(await button(page, name).count()).toBe(0);
    await page.keyboard.press('d');
    expect(await page.getByRole('form').count()).toBe(0);
    // Together with others, too.
    await page.goto(world.gateway.url);
    const row = page.locator('.requests li', { hasText: 'Wipe' });
    await row.getByText('waits for others').waitFor();
    await row.getByRole('checkbox').check();
    await button(page, 'Deny …').click();
    const dialog = page.getByRole('dialog', { name: 'Deny 0 requests' });
    await dialog.getByText('it waits for others').waitFor();
    expect(await button(page, 'Deny 0').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await world.client.cancel(asked.workflowId);
  });

  test('a seat goes to a person of a directory, is taken back, and goes again, and then decides', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('pay', { to: 'ida', amount: 8 });
    await inbox.show(asked);
    const handOver = async (to: string): Promise<void> => {
      await button(page, 'Hand over …').click();
      await page.locator('datalist#people option[value=zoe]').waitFor({ state: 'attached' });
      await page.getByLabel('Hand over to').fill(to);
      await button(page, 'Hand over').click();
    };
    await handOver('zoee');
    await page.getByText("No directory knows 'zoee'.").waitFor();
    await page.keyboard.press('Escape');
    await handOver('Zoe');
    await page.getByText('Handed over to zoe.').waitFor();
    await page.getByText('Waiting for sam or zoe.').waitFor();
    await page.getByText('You handed this request over to zoe.').waitFor();
    expect(await button(page, 'Approve').count()).toBe(0);
    await button(page, 'Take it back').click();
    await page.getByText('You answer this request again.').waitFor();
    await button(page, 'Approve').waitFor();
    await handOver('zoe');
    await page.getByText('You handed this request over to zoe.').waitFor();
    await otherPage.setExtraHTTPHeaders(zoe.bearer);
    await otherPage.goto(addressOf(asked));
    await otherPage.getByText('waits for you').waitFor();
    await button(otherPage, 'Approve').click();
    await passUndo(otherPage);
    await otherPage.getByText(/^You approved this at/).waitFor();
    await page.getByText('zoe approved this at').waitFor();
    expect((await asked.run.result()).output).toBe('done');
    expect(world.ran()).toContain('pay ida 8');
  });

  test('an operator moves a request, with a reason, and answers nothing', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('wipe', {}, undefined, { caller: { userId: 'u-17' } });
    await page.setExtraHTTPHeaders(sam.bearer);
    await page.goto(world.gateway.url);
    await page.locator('.requests li', { hasText: 'Wipe' }).getByText('requested by Ida Holm (u-17)').waitFor();
    await inbox.show(asked);
    await button(page, 'Hand over …').waitFor();
    expect(await button(page, 'Move …').count()).toBe(0);
    await otherPage.setExtraHTTPHeaders(olga.bearer);
    await otherPage.goto(addressOf(asked));
    await otherPage.getByText('You can look at requests but not answer them.').waitFor();
    expect(await button(otherPage, 'Approve').count()).toBe(0);
    await button(otherPage, 'Move …').click();
    const form = otherPage.getByRole('form', { name: 'Move to another reviewer' });
    // The only one who can answer it.
    expect(await form.getByLabel('In whose place').inputValue()).toBe('sam');
    await form.getByLabel('Who answers').fill('zoe');
    await button(otherPage, 'Move').click();
    await form.getByText('Write whose place it is, who answers in it, and why.').waitFor();
    await form.getByLabel('Reason, which the audit keeps').fill('Sam is ill');
    await button(otherPage, 'Move').click();
    await otherPage.getByText('zoe decides in the place of sam now.').waitFor();
    await page.getByText(/^Waiting for/).waitFor();
    const { entries } = await world.client.journal(asked.workflowId);
    expect(entries.at(-1)).toMatchObject({
      kind: 'delegated',
      reviewerId: 'sam',
      to: ['zoe'],
      by: 'operator',
      byId: 'olga',
      reason: 'Sam is ill',
    });
    // A refusal is shown in the form, which keeps what was written.
    await otherPage.goto(addressOf(asked));
    await button(otherPage, 'Move …').click();
    await form.getByLabel('In whose place').fill('sam');
    await form.getByLabel('Who answers').fill('rita');
    await form.getByLabel('Reason, which the audit keeps').fill('again');
    await button(otherPage, 'Move').click();
    await form.getByText("'sam' has delegated this request; 'zoe' decides instead").waitFor();
    expect(await form.getByLabel('Who answers').inputValue()).toBe('rita');
    await world.client.cancel(asked.workflowId);
    await page.setExtraHTTPHeaders(rita.bearer);
    inbox.complaints.splice(0);
  });

  test('the browser complains of nothing, and asks no other server', () => {
    expect(inbox.complaints).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });

  test('an escalated request says who was asked first, who since when, and who can answer now', async () => {
    const asked = await inbox.ask('echo', { text: 'Hello' });
    const { world } = inbox;
    await otherPage.setExtraHTTPHeaders(zoe.bearer);
    await otherPage.goto(`${world.gateway.url}/inbox/`);
    const row = otherPage.locator('li', { has: otherPage.locator(`a[href*="${asked.requestId}"]`) });
    const { escalated } = await eventually('the step is taken', async () => {
      const request = await approvalOf(world.client, asked.requestId);
      return request.escalated !== undefined && request;
    });
    const said = /asked sam, and since [\d:]+( [AP]M)? group:chiefs, too/;
    await row.getByText(said).waitFor();
    expect(await row.locator('.escalated time').getAttribute('datetime')).toBe(escalated![0]!.at);
    await row.getByRole('link').click();
    const brief = otherPage.locator('.brief');
    await brief.getByText(said).waitFor();
    await brief.getByText('sam or zoe (chiefs)').waitFor();
    expect(await axeFindings(otherPage)).toEqual([]);
    await world.client.cancel(asked.workflowId);
  });

  test('a masked account is compared with earlier requests of its run, by the run', async () => {
    const { world } = inbox;
    const wire = (account: string): object => ({ calls: [{ tool: 'echo', args: { creditor: { account } } }] });
    const accounts = ['DE89370400440532013000', 'CH9300762011623852957', 'DE89370400440532013000'];
    const run = await world.start([...accounts.map(wire), { text: 'done' }] as Turns);
    const said: string[] = [];
    for (const _ of accounts) {
      const [request] = await run.open();
      const { requestId } = request!;
      await otherPage.goto(addressOf({ run, workflowId: run.workflowId, requestId }));
      const row = otherPage.locator('.brief div', { hasText: /^Account/ });
      await row.waitFor();
      said.push(await row.innerText());
      expect(await axeFindings(otherPage)).toEqual([]);
      expect(await otherPage.locator('main').innerText()).not.toContain('0440532013');
      await world.client.decide({ requestId, approved: true, reviewerId: 'sam' });
      await eventually('it is settled', async () => (await run.status()).waitingFor?.[0]?.requestId !== requestId);
    }
    const first = /^Account\s+creditor.account: first request of this run with this account$/;
    const again = /creditor.account: same account as in an earlier request of this run \(approved by sam, [\d:]+/;
    expect(said).toEqual([first, first, again].map((text) => expect.stringMatching(text) as string));
    await run.result();
  });
});
