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
});
