import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roles } from '../../../packages/gateway/src/http/identity/principal.ts';
import { eventually } from '../../support/eventually.ts';
import { callOf, last, once, pay, team } from '../../support/team.ts';
import { axeFindings } from './axe.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** Runs by their names: agent, task and caller. A run says where the runs that it has started wait. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('the names of runs (need Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    inbox = await openInboxPage(
      { agentsIn: (folder) => team(folder) },
      {
        authenticator: {
          authenticate: async () => ({ id: 'rita', roles, groups: [], via: 'session', key: 'rita' }),
        },
      },
    );
  });
  afterAll(() => inbox?.close());

  test('the list and the page name agent, task and caller; words and "Mine" find a run', async () => {
    const { page, world } = inbox;
    const mine = await world.start([{ text: 'The lamp is broken.' }], { caller: { userId: 'rita' } });
    const other = await world.start([{ text: 'The lamp is late.' }], { caller: { userId: 'carl' } });
    await Promise.all([mine.result(), other.result()]);
    await page.goto(`${world.gateway.url}/inbox/runs`);
    const rows = page.locator('.rows li');
    await page.getByRole('link', { name: /^\w+: .*lamp is late/ }).waitFor();
    expect(await rows.filter({ hasText: 'late' }).innerText()).toContain('for carl');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Search' }).fill('BROKEN lamp');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/inbox/runs?text=BROKEN+lamp');
    await eventually('one is found', async () => (await rows.count()) === 1);
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    await page.getByRole('checkbox', { name: 'Mine' }).check();
    await page.getByRole('link', { name: /lamp is late/ }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /lamp is broken/ }).click();
    await page.getByRole('heading', { level: 1, name: /^\w+: .*lamp is broken/ }).waitFor();
    expect(await page.locator('.run-head').innerText()).toContain('for rita');
    await eventually('the title', async () => /lamp is broken.* · Countersign$/.test(await page.title()));
    expect(inbox.complaints).toEqual([]);
  });

  test('a run says where a run below it waits, also two levels deep', async () => {
    const { page, world } = inbox;
    const deep = callOf('clerk', { calls: [pay('deep')] }, last);
    const run = await world.start(once(callOf('researcher', { calls: [deep] }, last)));
    const clerk = world.run(`${run.workflowId}/1.1/1.1`);
    const [request] = await eventually('the clerk asks', () => clerk.open().catch(() => undefined));
    await page.goto(`${world.gateway.url}/inbox/runs/${run.workflowId}`);
    const waits = page.getByRole('link', { name: 'Waiting for approval in clerk ›' });
    await waits.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await waits.click();
    await page.waitForURL(`**/${request!.requestId}`);
    await world.client.cancel(run.workflowId);
  });

  test('a run is a conversation: its user, its agents and its reviewers by name, with the calls below', async () => {
    const { page, world } = inbox;
    const turns = [callOf('researcher', { text: 'I pay.', calls: [pay('nested')] }, last)];
    const run = await world.start(once(...turns), { caller: { userId: 'carl' } });
    const nested = world.run(`${run.workflowId}/1.1`);
    const [request] = await eventually('the researcher asks', () => nested.open().catch(() => undefined));
    const { gateway, client } = world;
    await page.goto(`${gateway.url}/inbox/runs/${run.workflowId}`);
    const messages = page.locator('.message');
    await messages.first().waitFor();
    await messages.filter({ hasText: /^carl user/ }).waitFor();
    const call = messages.filter({ hasText: /^tester agent/ }).locator('.call');
    expect(await call.innerText()).toMatch(/^Asked the agent researcher ›\s+running/);
    await call.getByRole('link').click();
    await page.waitForURL(`**/runs/${encodeURIComponent(nested.workflowId)}`);
    // The user of the root did not write the task of the nested run.
    await messages.filter({ hasText: /^tester calling agent/ }).waitFor();
    expect(await page.locator('.conversation').innerText()).not.toContain('carl');
    await page.getByText('waiting for approval').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await client.decide({
      requestId: request!.requestId,
      approved: false,
      reviewerId: 'ann',
      reason: 'Not this one\u202E.',
    });
    const denial = messages.filter({ hasText: /^ann \(claimed name\) reviewer/ });
    await denial.waitFor();
    expect(await denial.innerText()).toMatch(/pay: denied\s+Not this one\\u\{202E\}\./);
    await page.getByText(/^Completed/).waitFor();
    expect(await page.locator('.call-state').innerText()).toBe('denied by ann (claimed name)');
    await page.locator('summary', { hasText: 'Arguments of pay' }).click();
    await page.locator('summary', { hasText: 'What the model received' }).click();
    expect(await axeFindings(page)).toEqual([]);
    expect(inbox.complaints).toEqual([]);
    await run.result();
  });
});
