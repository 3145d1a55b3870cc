import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';
import { killAll } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { spawnWorker } from '../../support/worker-process.ts';

/** The worker is killed while somebody looks at a request. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('a worker that is lost (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    inbox = await openInboxPage({ worker: false });
  });
  afterAll(async () => {
    await killAll();
    await inbox?.close();
  });

  test('the page says so, the request stays, and a decision of that time counts with the next worker', async () => {
    const { page, world } = inbox;
    const { taskQueue, folder } = world;
    const { namespace } = world.client.session;
    const startWorker = () => spawnWorker({ address: sharedAddress(), namespace, taskQueue, folder });
    const worker = await startWorker();
    const asked = await inbox.ask('pay', { to: 'bob', amount: 20 });
    const run = await inbox.otherPage();
    await run.goto(`${world.gateway.url}/inbox/runs/${asked.workflowId}`);
    await run.getByText('Approval requested').waitFor();
    await inbox.show(asked);
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await approve.waitFor();

    await worker.kill();
    // From now on the gateway waits for answers as long as it usually does.
    await world.stopWorker();
    await page.getByText('It could not be read again').waitFor();
    expect(await page.locator('.note.bad').first().innerText()).toMatch(/worker/);
    expect(await page.locator('article.card').innerText()).toContain('bob');
    // The list and the run need no worker.
    const list = await inbox.otherPage();
    await list.goto(`${world.gateway.url}/inbox/`);
    await list.locator(`a[href*="${asked.requestId}"]`).waitFor();
    await run.reload();
    await run.getByText('Approval requested').waitFor();

    await approve.click();
    await passUndo(page);
    await page.getByText('Recorded: the next worker applies it.').waitFor();
    expect(world.ran()).toEqual([]);

    await startWorker();
    await page.getByText(/^You \w+ this at/).waitFor();
    expect((await asked.run.result()).output).toBe('done');
    expect(world.ran()).toEqual(['pay bob 20']);
    await run.getByText('The run has ended').waitFor();
    await list.locator(`a[href*="${asked.requestId}"]`).waitFor({ state: 'detached' });
  });
});
