import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';
import { killAll } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { spawnWorker } from '../../support/worker-process.ts';

/** The worker is killed while somebody looks at a request. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('a worker that is lost (needs Chromium)', () => {
  let inbox: InboxPage;
  const startWorker = () => {
    const { taskQueue, folder, client } = inbox.world;
    return spawnWorker({ address: sharedAddress(), namespace: client.session.namespace, taskQueue, folder });
  };
  beforeAll(async () => {
    inbox = await openInboxPage({ worker: false });
  });
  afterAll(async () => {
    await killAll();
    await inbox?.close();
  });

  test('the page says so, the request stays, and a decision of that time counts with the next worker', async () => {
    const { page, world } = inbox;
    const worker = await startWorker();
    const asked = await inbox.ask('pay', { to: 'bob', amount: 20 });
    const run = await inbox.otherPage();
    await run.goto(`${world.gateway.url}/inbox/runs/${asked.workflowId}`);
    await run.getByText('waiting for approval').waitFor();
    await inbox.show(asked);
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await approve.waitFor();

    await worker.kill();
    // From now on the gateway waits for answers as long as it usually does.
    await world.stopWorker();
    await page.getByText("The agent's worker is not running, so this may be old.").waitFor();
    expect(await page.locator('article.card').innerText()).toContain('bob');
    // The list and the run need no worker.
    const list = await inbox.otherPage();
    await list.goto(`${world.gateway.url}/inbox/`);
    await list.locator(`a[href*="${asked.requestId}"]`).waitFor();
    await run.reload();
    await run.getByText('waiting for approval').waitFor();

    await approve.click();
    await passUndo(page);
    await page.getByText('Recorded: the next worker applies it.').waitFor();
    expect(world.ran()).toEqual([]);

    const next = await startWorker();
    await page.getByText(/^You \w+ this at/).waitFor();
    expect((await asked.run.result()).output).toBe('done');
    expect(world.ran()).toEqual(['pay bob 20']);
    await run.getByText('Timeline · ended').waitFor();
    await list.locator(`a[href*="${asked.requestId}"]`).waitFor({ state: 'detached' });
    await next.kill();
  });

  test('a request opens from the index, and is denied, or approved where all of it is shown', async () => {
    const { page, world } = inbox;
    const worker = await startWorker();
    const denied = await inbox.ask('pay', { to: 'ann', amount: 7 });
    const whole = await inbox.ask('echo', {});
    const open = await inbox.ask('pay', { to: 'tom', amount: 9 });
    await worker.kill();
    await world.stopWorker();
    const [approve, card] = [page.getByRole('button', { name: 'Approve', exact: true }), page.locator('article.card')];
    const note = page.getByText("The agent's worker is not running, so only part of this request is shown.");

    await inbox.show(denied);
    expect(await card.innerText()).toMatch(/Pay \(to, amount\)[^]*Not shown: to, amount/);
    await note.waitFor();
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('Only part of this request is shown, so it cannot be approved now.').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Deny …' }).click();
    await page.getByLabel('Reason').fill('Not now');
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByText('Recorded: the next worker applies it.').waitFor();

    await page.goto(`${world.gateway.url}/inbox/`);
    await page.locator(`a[href*="${whole.requestId}"]`).click();
    await note.waitFor();
    await page.locator('[data-form=approve][aria-disabled=false]').click();
    await passUndo(page);
    await page.getByText('Recorded: the next worker applies it.').waitFor();

    await inbox.show(open);
    await note.waitFor();
    const before = world.ran().length;
    await startWorker();
    await card.locator('dd').getByText('tom', { exact: true }).waitFor();
    await page.locator('[data-form=approve][aria-disabled=false]').waitFor();
    expect(await note.count()).toBe(0);
    expect(await page.getByText('Changed since you opened it').count()).toBe(0);
    await denied.run.result();
    expect((await whole.run.result()).outcomes).toMatchObject([{ toolName: 'echo', outcome: 'approved', ran: 'yes' }]);
    expect(world.ran().slice(before)).toEqual([]);
    const { settled } = await world.client.approvals.get(denied.requestId, { workflowId: denied.workflowId });
    expect(settled).toMatchObject({ outcome: 'denied', reason: 'Not now' });
    await open.run.handle.terminate();
  });
});
