import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roles } from '../../../packages/gateway/src/http/identity/principal.ts';
import { axeFindings } from './axe.ts';
import { eventually } from '../../support/eventually.ts';
import { openLink } from '../../support/link.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';
import { testAgent } from '../../support/test-agent.ts';
import type { Calls } from '../../support/world.ts';

/** A run in a real browser: started, followed live over broken connections, stopped, and its grants revoked. */

const withChromium = chromium === undefined ? describe.skip : describe;

const policy = {
  version: 1,
  rules: [
    { pattern: 'pay', action: 'ask', reason: 'Money leaves' },
    { pattern: 'hold', action: 'allow' },
  ],
};

withChromium('the views of runs (need Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    inbox = await openInboxPage(
      {
        agentsIn: (folder) => [testAgent(folder, policy, { heartbeatTimeoutMs: 60_000 })],
      },
      {
        // A gateway without authentication does not answer under the address of a link.
        authenticator: {
          authenticate: async () => ({ id: 'rita', roles, groups: [], via: 'session', key: 'rita' }),
        },
      },
    );
  });
  afterAll(() => inbox?.close());

  const pay = (amount: number): Calls[number] => ({ tool: 'pay', args: { to: 'bob', amount } });
  const runUrl = (workflowId: string): string => `${inbox.world.gateway.url}/inbox/runs/${workflowId}`;

  test('a run is started from the form, and its page follows it to the end', async () => {
    const { page, world } = inbox;
    await page.goto(`${world.gateway.url}/inbox/start`);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Choose an agent.').waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).fill('tester');
    const turns = [
      { text: 'I look.', calls: [{ tool: 'look', args: { what: 'the moon' } }] },
      { text: 'It is round.' },
    ];
    await page.getByRole('textbox', { name: 'Task' }).fill(JSON.stringify(turns));
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Timeline · ended').waitFor();
    for (const text of ['I look.', 'saw the moon', 'Completed']) await page.getByText(text).first().waitFor();
    expect(page.url()).toContain('/inbox/runs/');
    expect(inbox.complaints).toEqual([]);
  });

  test('a session is started from the form, takes more messages, and is closed', async () => {
    const { page, world } = inbox;
    await page.goto(`${world.gateway.url}/inbox/start`);
    await page.getByRole('combobox', { name: 'Agent' }).fill('tester');
    const turns = [{ text: 'First answer.' }, { text: 'Second answer.' }, { text: 'Third answer.' }];
    await page.getByRole('textbox', { name: 'Task' }).fill(JSON.stringify(turns));
    await page.getByRole('checkbox', { name: 'Keep the conversation open' }).check();
    await page.getByRole('button', { name: 'Start' }).click();
    const answer = (text: string) => page.locator('.conversation').getByText(text, { exact: true });
    await answer('First answer.').waitFor();
    const box = page.getByRole('textbox', { name: 'Say more to the agent' });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Write a message.').waitFor();
    await box.fill('And order 8?');
    await box.press('Enter');
    await box.press('Control+Enter');
    await answer('Second answer.').waitFor();
    await eventually('the box is empty', async () => (await box.inputValue()) === '');
    await page.locator('textarea:focus').waitFor();
    await box.fill('And order 9?');
    await page.getByRole('button', { name: 'Send' }).click();
    await answer('Third answer.').waitFor();
    const said = await page.locator('.message-body').allInnerTexts();
    expect(said.slice(1).map((text) => text.trim())).toEqual([
      'First answer.',
      'And order 8?',
      'Second answer.',
      'And order 9?',
      'Third answer.',
    ]);
    const workflowId = decodeURIComponent(page.url().split('/runs/')[1]!);
    expect(await axeFindings(page)).toEqual([]);
    // The run ends in another place, so the page still offers the box.
    await world.client.closeRun(workflowId);
    await page.getByText('Ended: closed').waitFor();
    expect(await box.count()).toBe(0);
    expect(inbox.complaints).toEqual([]);
  });

  test('a message that is refused stays, with the reason', async () => {
    const { page, world } = inbox;
    const run = await world.start([{ text: 'Answered.' }], { session: true });
    await page.goto(runUrl(run.workflowId));
    // What is said before the first turn belongs to it.
    await run.awaitsUser();
    const box = page.getByRole('textbox', { name: 'Say more to the agent' });
    await box.fill('more');
    await page.route('**/messages', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/problem+json',
        body: JSON.stringify({ title: 'x', status: 429, code: 'rate_limited', detail: 'Wait a little.' }),
      }),
    );
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Wait a little.').waitFor();
    expect(await box.inputValue()).toBe('more');
    await page.unroute('**/messages');
    await page.getByRole('button', { name: 'Send' }).click();
    await eventually('the second turn', async () => (await run.status()).turn === 2);
    await run.handle.terminate();
    inbox.complaints.length = 0;
  });

  test('a turn that failed says why, and is tried again without what is being written', async () => {
    const { page, world } = inbox;
    const run = await world.start([{ error: { status: 401 } }], { session: true });
    await page.goto(runUrl(run.workflowId));
    const failures = page.getByText('refused the request (401)');
    await failures.waitFor();
    const box = page.getByRole('textbox', { name: 'Say more to the agent' });
    await box.fill('a draft');
    await page.getByRole('button', { name: 'Try again' }).click();
    await failures.nth(1).waitFor();
    expect(await box.inputValue()).toBe('a draft');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await failures.nth(2).waitFor();
    await world.client.closeRun(run.workflowId);
    await page.getByText('Ended: closed').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(inbox.complaints).toEqual([]);
  });

  test('a turn that is under way is stopped without what is being written', async () => {
    const { page, world } = inbox;
    const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'Fine.' }], {
      session: true,
    });
    await run.open();
    await page.goto(runUrl(run.workflowId));
    const box = page.getByRole('textbox', { name: 'Say more to the agent' });
    await box.fill('a draft');
    const stop = page.getByRole('button', { name: 'Stop', exact: true });
    await stop.click();
    await page.getByText('The user stopped this turn.').waitFor();
    await stop.waitFor({ state: 'detached' });
    expect(await box.inputValue()).toBe('a draft');
    expect(await run.status()).toMatchObject({ awaitsMessage: true, counts: { open: 0 } });
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Fine.', { exact: true }).waitFor();
    await run.handle.terminate();
    expect(inbox.complaints).toEqual([]);
  });

  test('over broken connections, no event is lost and none is there twice', async () => {
    const { page, world } = inbox;
    const turns = Array.from({ length: 6 }, (_, index) => ({
      text: `Step ${index}.`,
      calls: [{ tool: 'hold', args: { name: `h${index}` } }],
    }));
    const run = await world.start([...turns, { text: 'All done.' }]);
    const link = await openLink(new URL(world.gateway.url).host);
    await page.goto(`http://${link.address}/inbox/runs/${run.workflowId}`);
    for (const [index] of turns.entries()) {
      await page.getByText(`Step ${index}.`, { exact: true }).waitFor();
      // The connection breaks before each result, and is opened again by the page.
      link.cut();
      await page.getByText('Not connected').waitFor();
      appendFileSync(join(world.folder, `release-h${index}`), '');
      await eventually('the tool has ended', () => world.ran().includes(`end h${index}`));
      link.mend();
    }
    await page.getByText('Timeline · ended').waitFor();
    const shown = await page.locator('.message-body').allInnerTexts();
    // The task, a message with its call for each turn, and the answer.
    expect(shown).toHaveLength(turns.length + 2);
    for (const [index] of turns.entries()) {
      const message = shown.filter((text) => text.startsWith(`Step ${index}.`));
      expect(message).toHaveLength(1);
      expect(message[0]!.split(`held h${index}`)).toHaveLength(2);
    }
    await link.close();
    // The browser tells of each broken connection.
    inbox.complaints.length = 0;
  });

  test('a grant is revoked, after one more question', async () => {
    const { page, world } = inbox;
    const run = await world.start([
      { calls: [pay(1)] },
      { calls: [{ tool: 'hold', args: { name: 'g' } }] },
      { text: 'x' },
    ]);
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved: true, always: true, reviewerId: 'rita' });
    // No worker answers at first. When the page knows what happened, only time makes it read again.
    const json = { type: 'about:blank', title: 'no worker', status: 503, code: 'no_worker', detail: 'Nobody answers.' };
    await page.route('**/runs/*/grants', (route) => route.fulfill({ status: 503, json }));
    await page.goto(runUrl(run.workflowId));
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('.conversation').getByText('approved by rita').waitFor();
    await page.getByText('Nobody answers.').waitFor();
    await page.unroute('**/runs/*/grants');
    await page.clock.runFor(5_000);
    await page.getByText('every call of pay').waitFor();
    await page.getByRole('button', { name: 'Revoke grant-1' }).click();
    const dialog = page.getByRole('dialog');
    // Enter does nothing that cannot be taken back.
    await page.locator('button:focus', { hasText: 'Keep it' }).waitFor();
    await dialog.getByLabel('Reason').fill('No longer needed');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No grant is in force.').waitFor();
    expect(await world.client.grants(run.workflowId)).toEqual([]);
    appendFileSync(join(world.folder, 'release-g'), '');
    await run.result();
  });

  test.each([
    ['Stop now (interrupt running tools)', 'cancelled'],
    ['Stop after the running tool', 'closed'],
  ])('%s', async (button, status) => {
    const { page, world } = inbox;
    const run = await world.start([{ calls: [pay(2)] }, { text: 'done' }]);
    await run.open();
    await page.goto(runUrl(run.workflowId));
    await page.getByText('waiting for approval').waitFor();
    await page.getByRole('button', { name: `${button} …` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it running' }).click();
    expect((await run.status()).status).toBe('waiting');
    await page.getByRole('button', { name: `${button} …` }).click();
    await page.getByRole('dialog').getByRole('button', { name: button }).click();
    await page.getByText(`Ended: ${status}`).waitFor();
    expect((await world.client.show(run.workflowId)).status).toBe(status);
  });

  test('the list has the run under its filters, and the palette leads there', async () => {
    const { page, world } = inbox;
    const run = await world.start([{ calls: [pay(3)] }, { text: 'done' }]);
    await run.open();
    await page.goto(`${world.gateway.url}/inbox/runs?status=waiting&agent=tester`);
    await page.locator(`a.row-link[href$="/runs/${run.workflowId}"]`).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find a page, a request or a command' }).fill(run.workflowId);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/inbox/runs/${run.workflowId}`);
    // The number is there when the list of open requests is.
    await eventually('the title counts', async () => /^\(\d+\) tester: .* · Countersign$/.test(await page.title()));
    await world.client.cancel(run.workflowId);
  });

  test('of many runs the newest 100 are listed, and more if they are asked for', async () => {
    const { page, world } = inbox;
    const runs = Array.from({ length: 130 }, (_, index) => ({
      workflowId: `run-${index}`,
      workflowType: 'agentRun',
      status: 'completed',
      open: 0,
      startedAt: new Date().toISOString(),
    }));
    const isList = ({ pathname }: URL): boolean => pathname === '/runs';
    const asked: string[] = [];
    await page.route(isList, (route) => {
      const { search, searchParams } = new URL(route.request().url());
      asked.push(search);
      const limit = Number(searchParams.get('limit'));
      return route.fulfill({ json: { runs: runs.slice(0, limit), more: limit < runs.length } });
    });
    await page.goto(`${world.gateway.url}/inbox/runs?status=completed`);
    await page.getByText('There are more runs than these 100.').waitFor();
    await page.getByRole('button', { name: 'Show up to 500' }).click();
    await page.getByRole('link', { name: 'run-129' }).waitFor();
    expect(asked.slice(0, 2)).toEqual(['?status=completed&limit=100', '?status=completed&limit=500']);
    await eventually(
      'the first of the further runs has the focus',
      async () => (await page.evaluate('document.activeElement.textContent')) === 'agentRun: run-100',
    );
    expect(await page.getByText('There are more runs').count()).toBe(0);
    await page.unroute(isList);
  });
});
