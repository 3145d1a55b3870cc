import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { RunEvents } from '../../../packages/gateway/src/index.ts';
import { freePort } from '../../../packages/cli/src/dev-server/free-port.ts';
import { type RunningCli, startCli } from '../../adapters/cli/support.ts';
import { type Browser, findChromium, openSharedBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { startOn } from '../../support/start-on.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openWorld, type World } from '../../support/world.ts';

/** The gateway is killed and started again on its port while pages of the inbox are open. */

const chromium = findChromium();
const withChromium = chromium === undefined ? describe.skip : describe;

/** The names of the events that history keeps. */
const recorded = ['RunItemEvent', 'ApprovalRequestEvent', 'ApprovalResultEvent', 'RunCompleteEvent', 'gap'];

withChromium('a gateway that is lost (needs Chromium)', () => {
  let world: World;
  let browser: Browser;
  let port: number;
  let gateway: RunningCli;
  beforeAll(async () => {
    world = await openWorld({
      policy: { rules: [{ pattern: 'hold', action: 'allow' }] },
      agentsIn: (folder) => [testAgent(folder, undefined, { heartbeatTimeoutMs: 60_000 })],
    });
    port = await freePort();
    browser = await openSharedBrowser(chromium!);
    await startGateway();
  });
  afterAll(async () => {
    await browser?.close();
    await killGateway();
    await world?.close();
  });

  async function startGateway(): Promise<void> {
    await startOn(port, async () => {
      gateway = startCli(['gateway', '--port', String(port), '--undo', '0']);
      await gateway.shows('"url"');
    });
  }

  async function killGateway(): Promise<void> {
    gateway.child.kill('SIGKILL');
    await gateway.ended;
  }

  const addressOf = (path: string): string => `http://127.0.0.1:${port}${path}`;

  /** The ids of the events that the page receives, token deltas aside, and how often it opened a stream. */
  async function listen(page: Page): Promise<{ ids: string[]; streams: Set<string> }> {
    const heard = { ids: [] as string[], streams: new Set<string>() };
    const session = await browser.context.newCDPSession(page);
    await session.send('Network.enable');
    session.on('Network.eventSourceMessageReceived', ({ requestId, eventId, eventName }) => {
      // The browser gives others the id of the event before them.
      if (!recorded.includes(eventName)) return;
      heard.ids.push(eventId);
      heard.streams.add(requestId);
    });
    return heard;
  }

  test('no event is lost or doubled, the list goes on, and a decision whose answer was lost counts once', async () => {
    const run = await world.start([
      { text: 'I look.', calls: [{ tool: 'look', args: { what: 'it' } }] },
      { calls: [{ tool: 'hold', args: { name: 'a' } }] },
      { text: 'I pay.', calls: [{ tool: 'pay', args: { to: 'bob', amount: 20 } }] },
      { text: 'Paid.' },
    ]);
    const { workflowId } = run;
    const [page, list] = [await browser.context.newPage(), await browser.context.newPage()];
    const heard = await listen(page);
    await page.goto(addressOf(`/inbox/runs/${workflowId}`));
    await list.goto(addressOf('/inbox/'));
    await eventually('the tool runs', () => world.ran().includes('start a'));
    const timeline = page.getByRole('region', { name: /^Timeline/ });
    await timeline.getByText('hold', { exact: true }).first().waitFor();

    // The run goes on while the gateway is gone.
    await killGateway();
    await page.getByText('Not connected').waitFor();
    await list.getByText('The gateway cannot be reached').waitFor();
    writeFileSync(join(world.folder, 'release-a'), '');
    const [request] = await run.open();
    await startGateway();
    await timeline.getByText('waiting for approval').waitFor();
    const row = list.locator(`a[href*="${request!.requestId}"]`);
    await row.waitFor();
    await list.getByText('The gateway cannot be reached').waitFor({ state: 'detached' });

    // The gateway dies behind the decision, before the browser has its answer.
    const sent: unknown[] = [];
    await list.route('**/approve/**', async (route) => {
      sent.push(route.request().postDataJSON());
      if (sent.length > 1) return route.continue();
      expect((await route.fetch()).status()).toBe(200);
      await killGateway();
      await startGateway();
      await route.abort('connectionreset');
    });
    await row.click();
    await list.getByRole('button', { name: 'Approve', exact: true }).click();
    // The page shows the next request by now, if a test beside this one has one.
    await eventually('the page sends it again', () => sent.length === 2);
    expect(sent[1]).toEqual(sent[0]);
    expect((await run.result()).output).toBe('Paid.');
    expect(world.ran().filter((line) => line.startsWith('pay'))).toEqual(['pay bob 20']);
    const { entries } = await world.client.journal(workflowId);
    expect(entries.filter(({ kind }) => kind === 'settled' || kind === 'refused')).toHaveLength(1);

    await page.getByText('Timeline · ended').waitFor();
    const events = await page.evaluate<RunEvents>(
      `fetch('/runs/${workflowId}/events?follow=false').then((answer) => answer.json())`,
    );
    expect(heard.ids).toEqual(events.events.map(({ id }) => id));
    // The last stream may have nothing left to tell, and one that is silent for long is opened again.
    expect(heard.streams.size).toBeGreaterThanOrEqual(2);
    const shown = events.events.map((event) => (event.type === 'RunItemEvent' ? event.item.type : event.type));
    const counted = (type: string): number => shown.filter((each) => each === type).length;
    expect(await timeline.locator('.call').count()).toBe(counted('tool_call'));
    expect(await timeline.locator('.call-result').count()).toBe(counted('tool_result'));
  });
});
