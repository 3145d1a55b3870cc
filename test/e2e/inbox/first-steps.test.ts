import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** The first minutes in a real browser: no run yet, and a worker that the gateway knows. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('before the first run (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    inbox = await openInboxPage({}, { worker: () => ({ agents: ['tester'] }), temporalUi: 'http://127.0.0.1:8233' });
  });
  afterAll(() => inbox?.close());

  test('the list of runs says how to start one, and the form refuses an agent that does not exist', async () => {
    const { page, world } = inbox;
    await page.goto(`${world.gateway.url}/inbox/operator`);
    await page.getByText('No run has recorded a policy yet.').waitFor();
    await page.goto(`${world.gateway.url}/inbox/runs`);
    await page.getByText('countersign run tester --input Hello').waitFor();
    await page.getByRole('link', { name: "See its history in Temporal's UI" }).waitFor();
    await page.getByRole('link', { name: 'Start a run here' }).click();
    await page.locator('#start-agents option[value=tester]').waitFor({ state: 'attached' });
    const agent = page.getByRole('combobox', { name: 'Agent' });
    await agent.fill('testr');
    await page.getByRole('textbox', { name: 'Task' }).fill('[{"text":"Done."}]');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText("There is no agent 'testr'; the worker has: 'tester'. Did you mean 'tester'?").waitFor();
    expect(await agent.getAttribute('aria-invalid')).toBe('true');
    await agent.fill('tester');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Timeline · ended').waitFor();
    await page.goto(`${world.gateway.url}/inbox/runs`);
    await page.getByRole('link', { name: /^tester: / }).waitFor();
    expect(await page.locator('.first-steps').count()).toBe(0);
    // The refusal is a 404 that the browser reports.
    expect(inbox.complaints.filter((each) => !each.includes('404'))).toEqual([]);
  });
});
