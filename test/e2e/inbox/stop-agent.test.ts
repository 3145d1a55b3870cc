import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { axeFindings } from './axe.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** Stopping an agent: its requests, its later calls, its run. */

const withChromium = chromium === undefined ? describe.skip : describe;

const rita = makeToken('rita', ['viewer', 'reviewer', 'operator']);
const sam = makeToken('sam', ['viewer', 'reviewer']);
const carl = makeToken('carl', ['viewer', 'starter']);
const eve = makeToken('eve', ['viewer']);
const pay = (amount: number) => ({ tool: 'pay', args: { to: 'ann', amount } });

withChromium('stopping an agent (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const identity = identityOf({ tokens: [rita.entry, sam.entry, carl.entry, eve.entry] });
    inbox = await openInboxPage({}, { identity });
  });
  afterAll(() => inbox?.close());

  test('from a request: it is denied, later calls are denied, and the run goes on without them', async () => {
    const { page, world } = inbox;
    await page.setExtraHTTPHeaders(sam.bearer);
    const asked = await inbox.ask('pay', pay(1).args, [{ calls: [pay(2)] }, { text: 'done' }]);
    await inbox.show(asked);
    await page.getByRole('button', { name: 'Stop this agent …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop this agent' });
    // A reviewer who is neither starter nor operator cannot end a run.
    expect(await dialog.getByRole('radio').count()).toBe(0);
    await dialog.getByRole('checkbox', { name: 'Deny later calls of pay in this run', checked: true }).waitFor();
    await dialog.getByLabel('Reason').fill('Runaway');
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog.getByText('Denied. Later calls of pay in this run are denied too (grant-1).').waitFor();
    expect((await asked.run.result()).outcomes).toMatchObject([{ outcome: 'denied' }, { ran: 'no' }]);
    expect(world.ran()).toEqual([]);
    expect(inbox.complaints).toEqual([]);
  });

  test.each([
    ['Stop after the running tool', 'closed'],
    ['Stop now (interrupt running tools)', 'cancelled'],
  ])('from the list, with several requests: %s', async (way, status) => {
    const { page, world } = inbox;
    await page.setExtraHTTPHeaders(rita.bearer);
    const run = await world.start([
      { calls: [pay(3), pay(4), pay(5)] },
      { calls: [{ tool: 'hold', args: { name: 's' } }] },
      { text: 'done' },
    ]);
    await run.open(3);
    await page.goto(`${world.gateway.url}/inbox/`);
    await page.locator(`[data-run="${run.workflowId}"]`).getByRole('checkbox').check();
    await page.getByRole('region', { name: 'Selected requests' }).getByRole('button', { name: 'Deny …' }).click();
    const deny = page.getByRole('dialog', { name: 'Deny 3 requests' });
    await deny.getByRole('button', { name: 'Stop the agent …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop this agent' });
    await dialog.getByRole('checkbox', { name: 'Deny these 3 requests', checked: true }).waitFor();
    await dialog.getByRole('radio', { name: way }).check();
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog.getByText('3 denied.').waitFor();
    expect(await dialog.locator('.results .bad').count()).toBe(0);
    expect(await dialog.locator('.results li').count()).toBe(2);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await eventually('the run has ended', async () => (await world.client.show(run.workflowId)).status === status);
    expect(world.ran()).toEqual([]);
    expect(inbox.complaints).toEqual([]);
  });

  test('a starter ends the run without an answer, and a viewer is offered nothing', async () => {
    const { page, world } = inbox;
    await page.setExtraHTTPHeaders(eve.bearer);
    const asked = await inbox.ask('pay', pay(6).args);
    await inbox.show(asked);
    await page.getByText('You can look at requests but not answer them.').waitFor();
    expect(await page.getByRole('button', { name: 'Stop this agent …' }).count()).toBe(0);
    await page.setExtraHTTPHeaders(carl.bearer);
    await inbox.show(asked);
    await page.getByRole('button', { name: 'Stop this agent …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop this agent' });
    await dialog.getByRole('radio', { name: 'Stop now' }).check();
    expect(await dialog.getByRole('checkbox').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog.getByText('is asked to stop').waitFor();
    const settled = await eventually('it is cancelled', async () => {
      const shown = await world.client.approvals.get(asked.requestId, { workflowId: asked.workflowId });
      return shown.settled;
    });
    expect(settled).toMatchObject({ outcome: 'cancelled' });
  });
});
