import type { Page } from 'playwright-core';
import type { GatewayOptions } from '../../../packages/gateway/src/index.ts';
import type { RunInput } from '../../../src/contract.ts';
import { type Browser, findChromium, openSharedBrowser } from '../../support/browser.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import type { RunInTest, Turns, WorldOptions } from '../../support/world.ts';

/** A gateway with a worker, and a browser that looks at its inbox. */
export interface InboxPage {
  world: GatewayWorld;
  browser: Browser;
  page: Page;
  /** What the browser complained of: errors of scripts, violations of the content security policy, failed requests. */
  complaints: string[];
  /** The requests for other origins: there must be none. */
  foreign: string[];
  /** Starts a run whose script makes one call, and waits until it is asked about. */
  ask(tool: string, args: object, more?: Turns, input?: Partial<RunInput>): Promise<AskedRun>;
  /** Opens the view of a request. */
  show(asked: AskedRun, query?: string): Promise<void>;
  /** Another page of the same browser. */
  otherPage(): Promise<Page>;
  close(): Promise<void>;
}

export interface AskedRun {
  run: RunInTest;
  workflowId: string;
  requestId: string;
}

/** Undefined if there is no Chromium here. */
export const chromium = findChromium();

/** Long enough that a test on a busy machine can undo, and shorter than the silence that ends an event stream. */
export const undoMs = 20_000;

/**
 * Lets the time to undo pass on the clock of a page that holds an approval back. If the page has gone on to the next
 * request, it goes back to the one that was approved.
 */
export async function passUndo(page: Page): Promise<void> {
  await page.getByRole('progressbar', { name: 'Time to undo' }).waitFor();
  const isElsewhere = (await page.locator('.decision-bar progress').count()) > 0;
  await page.clock.runFor(undoMs);
  if (isElsewhere) await page.goBack();
}

/** Opens a browser on the inbox of a namespace of its own, unless the options name one. */
export async function openInboxPage(
  worldOptions: WorldOptions = {},
  gatewayOptions: Partial<GatewayOptions> = {},
  open = openSharedBrowser,
): Promise<InboxPage> {
  const namespace = worldOptions.namespace ?? (await makeOwnInbox());
  const world = await openGatewayWorld({ ...worldOptions, namespace }, { undoMs, ...gatewayOptions });
  const browser = await open(chromium!);
  const [complaints, foreign]: [string[], string[]] = [[], []];
  const origin = new URL(world.gateway.url).origin;
  const { context } = browser;
  context.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) foreign.push(request.url());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('console', (message) => {
    // On a busy machine a worker may not answer the gateway in time; the page asks again.
    if (message.type() === 'error' && !message.text().includes('503')) complaints.push(message.text());
  });
  await context.clock.install();
  const page = await context.newPage();
  return {
    world,
    browser,
    page,
    complaints,
    foreign,
    ask: async (tool, args, more = [{ text: 'done' }], input = {}) => {
      const run = await world.start([{ calls: [{ tool, args }] }, ...more] as Turns, input);
      const [request] = await run.open();
      return { run, workflowId: run.workflowId, requestId: request!.requestId };
    },
    show: async ({ workflowId, requestId }, query = '') => {
      await page.goto(`${world.gateway.url}/inbox/requests/${encodeURIComponent(workflowId)}/${requestId}${query}`);
      await page
        .locator('article.card')
        .waitFor()
        .catch(async (error: Error) => {
          throw new Error(`${error.message}\n${await page.locator('body').innerText()}\n${complaints.join('\n')}`);
        });
    },
    otherPage: () => context.newPage(),
    close: async () => {
      await browser.close();
      await world.close();
    },
  };
}
