/**
 * `npm run bench:desk`: what a reviewer does in the web inbox, in Chromium: the clicks, keys and seconds of each task, with
 * 50 open requests, then with 2,000 more, while ten a second arrive. `--json` prints only the numbers. Exits with 1 when
 * approving and going on takes longer than its budget.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { startGateway } from '../packages/gateway/src/index.ts';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';
import type { ApprovalSummary } from '../src/contract.ts';
import { eventually } from '../test/support/eventually.ts';
import { findChromium, openBrowser } from '../test/support/browser.ts';
import { startListed } from '../test/support/listed-requests.ts';
import { openStage } from './stage.ts';

/** From the click on Approve until the next request can be approved, in seconds. */
const budgetSeconds = 2;
const waiting = 50;
const flood = 2_000;
/** The requests that arrive while frames are counted: ten a second. */
const [arriving, arrivingEveryMs] = [50, 100];

const { values } = parseArgs({ options: { json: { type: 'boolean' } } });
const chromium = findChromium();
if (chromium === undefined) throw new Error('No Chromium here: install it (Debian: `apt-get install chromium`).');

interface Task {
  task: string;
  clicks: number;
  keys: number;
  seconds: number;
}
const tasks: Task[] = [];

/** A reviewer's hands on a page: they count. */
class Hands {
  clicks = 0;
  keys = 0;
  readonly page: Page;
  constructor(page: Page) {
    this.page = page;
  }
  async click(what: Locator): Promise<void> {
    this.clicks += 1;
    await what.click();
  }
  async press(...keys: string[]): Promise<void> {
    this.keys += keys.length;
    for (const key of keys) await this.page.keyboard.press(key);
  }
  async type(text: string): Promise<void> {
    this.keys += text.length;
    await this.page.keyboard.type(text);
  }
}

/** The page of the request of a run. */
async function addressOf({ workflowId }: { workflowId: string }): Promise<string> {
  const request = await eventually('the run asks', async () => {
    const { approvals } = await stage.client.approvals.list({ workflowId });
    return approvals[0];
  });
  return `${gateway.url}/inbox/requests/${workflowId}/${request.requestId}`;
}

/** Until an approval has opened the next request. */
async function goingOn(page: Page, approve: () => Promise<void>): Promise<void> {
  const before = page.url();
  await approve();
  await page.waitForURL((url) => url.href !== before);
}

async function measure(task: string, page: Page, act: (hands: Hands) => Promise<unknown>): Promise<number> {
  const hands = new Hands(page);
  const startedAtMs = performance.now();
  await act(hands);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  tasks.push({ task, clicks: hands.clicks, keys: hands.keys, seconds });
  if (values.json !== true) process.stderr.write(`${task}: ${seconds.toFixed(2)} s\n`);
  return seconds;
}

const server = await startDevServer({ uiPort: null });
const pay = (to: string) => [{ calls: [{ tool: 'pay', args: { to, amount: 89 } }] }, { text: 'done' }];
const names = Array.from({ length: waiting }, (_, index) => `person-${index}`);
const stage = await openStage({
  address: server.address,
  scripts: Object.fromEntries([...names, 'near', 'seat'].map((name) => [name, pay(name)])),
});
const gateway = await startGateway({ client: stage.client, port: 0, log: () => undefined });
const browser = await openBrowser(chromium);
try {
  const { id: me } = (await (await fetch(new URL('/me', gateway.url))).json()) as { id: string };
  const directory = { people: { [me]: { groups: [] }, bob: { groups: [] } } };
  const mine = { rules: [{ pattern: 'pay', action: 'ask' as const, ask: { reviewers: [me] } }], directory };
  for (const name of names) await stage.startOurs(name, { policy: mine });
  browser.context.setDefaultTimeout(30_000);
  const page = await browser.context.newPage();
  const rows = page.locator('.requests li');
  const armed = (name: 'approve' | 'deny'): Locator => page.locator(`[data-form="${name}"][aria-disabled="false"]`);
  const home = `${gateway.url}/inbox/?text=`;
  await eventually('all are listed', async () => {
    await page.goto(home);
    return page.locator('.tabs a', { hasText: `Mine ${waiting}` }).isVisible();
  });

  await measure('find what waits for me', page, async () => {
    await page.goto(home);
    await rows.first().waitFor();
  });
  await measure('understand a request', page, async (hands) => {
    await hands.click(rows.first().locator('.open'));
    await page.locator('article.card').waitFor();
  });
  await armed('approve').waitFor();
  const onward = await measure('approve and go on', page, async (hands) => {
    await goingOn(page, () => hands.click(armed('approve')));
    await armed('approve').waitFor();
  });
  await measure('approve with an edit', page, async (hands) => {
    await hands.press('e');
    const amount = page.getByLabel('amount');
    await hands.click(amount);
    await hands.press('Control+a');
    await hands.type('50');
    await hands.press('Control+Enter');
    await page.getByRole('region', { name: 'Your answer' }).getByRole('button', { name: /^Undo/ }).waitFor();
  });
  await measure('deny with a reason', page, async (hands) => {
    await hands.press('n');
    await armed('deny').waitFor();
    await hands.press('d');
    await page.locator('textarea:focus').waitFor();
    await hands.type('No receipt');
    await hands.press('Control+Enter');
    await page.getByText('You denied this').waitFor();
  });
  await measure('deny five at once', page, async (hands) => {
    await page.goto(home);
    for (const at of [3, 4, 5, 6, 7]) await hands.click(rows.nth(at).getByRole('checkbox'));
    await hands.press('d');
    await hands.click(page.getByRole('button', { name: 'Deny 5', exact: true }));
    await page.getByRole('dialog', { name: 'Results' }).waitFor();
  });
  const seat = await addressOf(await stage.startOurs('seat', { policy: mine }));
  await measure('hand over and take back', page, async (hands) => {
    await page.goto(seat);
    await armed('deny').waitFor();
    await hands.click(page.getByRole('button', { name: /^Hand over/ }));
    await page.getByRole('form').waitFor();
    await page.locator('datalist option[value="bob"]').waitFor({ state: 'attached' });
    await hands.type('bob');
    await hands.press('Control+Enter');
    await hands.click(page.getByRole('button', { name: /Take it back/ }));
    await armed('approve').waitFor();
  });
  const near = { ...mine, rules: [{ ...mine.rules[0]!, ask: { reviewers: [me], timeout: '15s' } }] };
  const nearly = await addressOf(await stage.startOurs('near', { policy: near }));
  await measure('approve shortly before the deadline', page, async (hands) => {
    await page.goto(nearly);
    await hands.click(armed('approve'));
    const requestId = nearly.split('/').at(-1)!;
    await eventually('it counts', async () => {
      const { settled } = await stage.client.approvals.get(requestId);
      return settled?.outcome === 'approved';
    });
  });
  await measure('keyboard alone: open and approve', page, async (hands) => {
    await page.goto(home);
    await rows.first().waitFor();
    await hands.press('j', 'j', 'Enter');
    await armed('approve').waitFor();
    await goingOn(page, () => hands.press('a', 'Enter'));
  });
  const phone = await browser.context.newPage();
  await phone.setViewportSize({ width: 380, height: 700 });
  await measure('a phone: open and approve', phone, async (hands) => {
    await phone.goto(home);
    await hands.click(phone.locator('.requests .open').nth(5));
    await goingOn(phone, () => hands.click(phone.locator('[data-form="approve"][aria-disabled="false"]')));
  });
  await phone.close();

  const { session } = stage.client;
  const ticket = (index: number) => [{ toolName: 'open_ticket', reviewers: [me], sentence: `Open ticket ${index}` }];
  await startListed(session, [
    ...Array.from({ length: flood }, (_, index) => ticket(index)),
    [{ toolName: 'wire_transfer', reviewers: [me], sentence: 'Send 48,250 EUR to Lightworks Ltd' }],
  ] as Partial<ApprovalSummary>[][]);
  await measure(`the first row with ${(flood + waiting).toLocaleString('en')} open`, page, async () => {
    await page.goto(home);
    await rows.first().waitFor();
  });
  await page.locator('.tabs a', { hasText: /Mine 2,0/ }).waitFor();
  await measure('find one call in the flood', page, async (hands) => {
    await hands.press('/');
    await hands.type('lightworks');
    await rows.filter({ hasText: 'Lightworks' }).waitFor();
    await eventually('it alone', async () => (await rows.count()) === 1);
  });

  await page.goto(home);
  await rows.first().waitFor();
  const frames = page.evaluate<number>(
    `new Promise((done) => {
      let frames = 0;
      const from = performance.now();
      const next = (now) => now - from > ${arriving * arrivingEveryMs} ? done(frames / (now - from) * 1000) : (frames++, requestAnimationFrame(next));
      requestAnimationFrame(next);
    })`,
  );
  for (let index = 0; index < arriving; index++) {
    const pause = sleep(arrivingEveryMs);
    await startListed(session, [ticket(flood + index)] as Partial<ApprovalSummary>[][]);
    await pause;
  }
  const framesPerSecond = await frames;

  if (values.json === true) console.log(JSON.stringify({ tasks, framesPerSecond, budgetSeconds }, undefined, 2));
  else {
    console.log('task                                      clicks  keys  seconds');
    for (const { task, clicks, keys, seconds } of tasks)
      console.log(
        `${task.padEnd(42)}${String(clicks).padStart(6)}${String(keys).padStart(6)}${seconds.toFixed(2).padStart(9)}`,
      );
    console.log(`${framesPerSecond.toFixed(0)} frames a second while requests arrive.`);
  }
  if (onward > budgetSeconds) process.exitCode = 1;
} finally {
  await browser.close();
  await gateway.stop();
  await stage.close();
  await server.stop();
}
