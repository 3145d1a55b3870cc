import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { sharedTemporalUi } from '../../support/shared-server.ts';
import { signalByForm } from '../operators/waiting-run-pages.ts';

/** The inbox and Temporal's own UI beside each other in one browser. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium("the inbox beside Temporal's UI (needs Chromium)", () => {
  let namespace: string;
  let inbox: InboxPage;
  beforeAll(async () => {
    namespace = await makeOwnInbox();
    inbox = await openInboxPage({ namespace }, { temporalUi: sharedTemporalUi() });
  });
  afterAll(() => inbox?.close());

  test("a link leads to the run in Temporal's UI; what is approved there, the inbox shows as decided elsewhere", async () => {
    const { page, world, browser } = inbox;
    const asked = await inbox.ask('pay', { to: 'bob', amount: 20 });
    const list = await inbox.otherPage();
    await list.goto(`${world.gateway.url}/inbox/`);
    const row = list.getByRole('list', { name: 'Open requests' }).getByRole('listitem');
    await row.waitFor();
    await inbox.show(asked);

    const opening = browser.context.waitForEvent('page');
    await page.getByRole('link', { name: "See it in Temporal's UI" }).click();
    const temporal = await opening;
    await temporal.getByRole('heading', { name: asked.workflowId }).waitFor();
    expect(temporal.url()).toContain(`${sharedTemporalUi()}/namespaces/${namespace}/workflows/${asked.workflowId}`);

    await signalByForm(temporal, JSON.stringify({ requestId: asked.requestId, approved: true }), async () => undefined);
    await page.getByText('An unnamed reviewer approved this at').waitFor();
    expect(await page.getByRole('button', { name: /^(Approve|Deny)/ }).count()).toBe(0);
    await row.waitFor({ state: 'detached' });
    expect((await asked.run.result()).output).toBe('done');
    expect(world.ran()).toEqual(['pay bob 20']);

    // The page of the run leads there, too.
    await page.goto(`${world.gateway.url}/inbox/runs/${asked.workflowId}`);
    await page.getByText('Timeline · ended').waitFor();
    const again = browser.context.waitForEvent('page');
    await page.getByRole('link', { name: "See it in Temporal's UI" }).click();
    await (await again).getByRole('heading', { name: asked.workflowId }).waitFor();
  });
});
