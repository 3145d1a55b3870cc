import type { Page } from 'playwright-core';
import type { InboxStage } from './inbox-stage.ts';

/** A view of the inbox, and how to get there. */
export interface StagedView {
  name: string;
  open(page: Page): Promise<void>;
}

/** Every view and every dialog of the inbox on its stage. */
export function inboxViews({ gateway, open }: InboxStage): StagedView[] {
  const at = (name: string, path: string, shows: string, then?: (page: Page) => Promise<void>): StagedView => ({
    name,
    open: async (page) => {
      await page.goto(`${gateway.url}/inbox${path}`);
      await page.getByText(shows).first().waitFor();
      await then?.(page);
    },
  });
  const request = (workflowId: string): string => `/requests/${workflowId}/${open[workflowId]![0]!.requestId}`;
  // Buttons count half a second after the card is there.
  const armed = async (page: Page): Promise<void> =>
    page.locator('[data-form="deny"][aria-disabled="false"]').waitFor();
  const formOf = (name: string) => async (page: Page) => {
    const more = page.getByRole('button', { name: 'More …' });
    await armed(page);
    if (await more.isVisible()) await more.click();
    await page.locator(`[data-form=${name}]`).click();
    await page.getByRole('form').waitFor();
  };
  const press = (name: string | RegExp) => async (page: Page) => {
    const more = page.getByRole('button', { name: 'More …' });
    // On a phone, the further answers are folded.
    if (await more.isVisible()) await more.click();
    await page.getByRole('button', { name }).and(page.locator(':enabled')).first().click();
    await page.locator('form h2, form legend, dialog[open]').first().waitFor();
  };
  const list = 'Refund: orderId o-17';
  return [
    at('list', '/', list),
    at('list without a match', '/?text=nothing+like+it', 'No open request matches'),
    at('empty tab', '/?tab=others', 'No request waits for other people.'),
    at('bulk', '/?tab=anyone', 'Send mail', async (page) => {
      // The first one selects all.
      for (const box of [1, 2, 3]) await page.getByRole('checkbox').nth(box).check();
      await page.getByRole('button', { name: /Approve/ }).click();
      // Each request is read first.
      await page.getByRole('dialog').getByText('requests_per_minute: 600').waitFor();
    }),
    at('request', request('ticket-17'), list, armed),
    at('request with a change', request('limits-4'), 'requests_per_minute', armed),
    at('request with misleading text', request('invoice-9'), 'u{202E}', armed),
    at('deny', request('ticket-17'), list, press(/^Deny/)),
    at('edit', request('ticket-21'), 'Send mail', async (page) => {
      await press(/^Edit/)(page);
      await page.getByRole('textbox', { name: 'subject' }).fill('We send order o-21 again');
    }),
    at('always', request('ticket-21'), 'Send mail', async (page) => {
      await press(/^Always/)(page);
      await page
        .getByText(/would have covered|No earlier call/)
        .first()
        .waitFor();
    }),
    at('respond', request('ticket-21'), 'Send mail', formOf('respond')),
    at('extend', request('ticket-21'), 'Send mail', formOf('extend')),
    at('delegate', request('ticket-17'), list, formOf('delegate')),
    at('move', request('ticket-17'), list, formOf('move')),
    at('undo', request('ticket-21'), 'Send mail', async (page) => {
      // It is never sent: other views show the request.
      await page.evaluate(`
        const send = fetch;
        globalThis.fetch = (path, init) => (init?.method === 'POST' ? new Promise(() => undefined) : send(path, init));`);
      await armed(page);
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      await page.waitForURL((url) => !url.pathname.includes('ticket-21'));
      await page.locator('article.card h1').waitFor();
    }),
    at('settled', '/runs/ticket-35', 'Timeline · ended', async (page) => {
      await page.getByRole('table').getByRole('link').first().click();
      await page.getByText('rita denied this at').waitFor();
    }),
    at('selected rows', '/', list, async (page) => {
      await page.getByLabel(/^Select all/).check();
      await page.getByText(/selected$/).waitFor();
    }),
    at('filters', '/?tool=refund', list, async (page) => {
      const fold = page.getByRole('button', { name: /^Filters/ });
      if (await fold.isVisible()) await fold.click();
      await page.getByRole('button', { name: 'Clear' }).waitFor();
    }),
    at('offline', '/', list, async (page) => {
      await page.route('**/approvals/events', (route) => route.abort());
      await page.evaluate(`window.dispatchEvent(new Event('offline'))`);
      await page.getByText('The gateway cannot be reached.').waitFor();
    }),
    {
      name: 'loading',
      open: async (page) => {
        await page.route('**/approvals/events', () => undefined);
        await page.goto(`${gateway.url}/inbox/`);
        await page.getByText('Loading the open requests …').waitFor();
      },
    },
    at('settings', '/', list, async (page) => {
      await page.getByRole('button', { name: /settings and notifications/ }).click();
      await page.locator('dialog[open]').waitFor();
    }),
    at('journal', '/runs/ticket-40', 'Timeline · ended', async (page) => {
      await page.getByText('Everything that was recorded').click();
      await page.getByRole('region', { name: 'Table of entries' }).waitFor();
    }),
    at('decided', '/decided', 'The charge was right'),
    at('nothing decided', '/decided?outcome=expired', 'Nothing was decided'),
    at('runs', '/runs', 'disk-web-2'),
    at('run', '/runs/ticket-40', 'Timeline · ended', async (page) => {
      for (const text of ['task queue', 'grant-1 ·']) await page.getByText(text).first().waitFor();
    }),
    at('open run', '/runs/ticket-17', 'waiting for approval'),
    at('cancel', '/runs/ticket-17', 'waiting for approval', press('Stop now (interrupt running tools) …')),
    at('start', '/start', 'Task'),
    at('operator', '/operator', 'Often quick'),
    at('not found', '/nowhere', 'Page not found'),
    at('palette', '/', list, async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Find a page, a request or a command' }).fill('refund');
    }),
    at('help', '/runs', 'disk-web-2', async (page) => {
      await page.keyboard.press('?');
      await page.locator('dialog[open]').waitFor();
    }),
  ];
}
