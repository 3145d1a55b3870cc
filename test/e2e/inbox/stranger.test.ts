import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { identityOf, makeToken } from '../../support/identity.ts';
import { type AskedRun, chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** People whom the identity file gives less than the inbox offers. */

const withChromium = chromium === undefined ? describe.skip : describe;

const viewer = makeToken('vera', ['viewer']);
const nobody = makeToken('noah', []);

withChromium('strangers in the inbox (needs Chromium)', () => {
  let inbox: InboxPage;
  let asked: AskedRun;
  beforeAll(async () => {
    const identity = identityOf({ tokens: [viewer.entry, nobody.entry] });
    inbox = await openInboxPage({}, { identity });
    asked = await inbox.ask('pay', { to: 'orchard', amount: 4_711 });
  });
  afterAll(() => inbox?.close());

  const address = (): string => `${inbox.world.gateway.url}/inbox/requests/${asked.workflowId}/${asked.requestId}`;

  /** In the name of whoever is signed in in the browser, as a script of the page would. */
  const send = (page: Page, method: string, path: string, body: object): Promise<number> =>
    page.evaluate(
      async ([method, path, body]) => {
        const headers = { 'content-type': 'application/json' };
        const send = method === 'GET' ? {} : { headers, body };
        return (await fetch(path!, { method: method!, ...send })).status;
      },
      [method, path, JSON.stringify(body)],
    );

  const writes = (): [method: string, path: string, body: object][] => {
    const { requestId, workflowId } = asked;
    return [
      ['POST', `/approve/${requestId}`, { approved: true }],
      ['POST', `/approvals/decide`, { approved: true, requests: [{ requestId, workflowId, digest: '0'.repeat(64) }] }],
      ['POST', `/approvals/${requestId}/extend`, { for: '1h' }],
      ['POST', `/approvals/${requestId}/delegate`, { to: ['vera'] }],
      ['POST', `/approvals/${requestId}/matches`, { scope: { kind: 'tool' } }],
      ['POST', `/runs`, { agent: 'tester', input: '[]' }],
      ['POST', `/runs/${workflowId}/cancel`, {}],
      ['POST', `/runs/${workflowId}/close`, {}],
      ['PUT', `/runs/${workflowId}/policy`, { mode: 'bypassPermissions' }],
      ['DELETE', `/runs/${workflowId}/grants/grant-1`, {}],
      ['GET', `/runs/${workflowId}/audit`, {}],
      ['GET', `/statistics`, {}],
    ];
  };

  async function signIn(page: Page, token: string): Promise<void> {
    await page.goto(address());
    await page.getByLabel('Or with a token').fill(token);
    await page.getByRole('button', { name: 'Sign in with the token' }).click();
    await page.getByLabel('Or with a token').waitFor({ state: 'detached' });
  }

  test('who is not signed in sees nothing of a request, and a wrong token does not help', async () => {
    const { page } = inbox;
    await page.goto(address());
    await page.getByLabel('Or with a token').fill('x'.repeat(64));
    await page.getByRole('button', { name: 'Sign in with the token' }).click();
    await page.getByRole('alert').filter({ hasText: /./ }).waitFor();
    expect(await page.content()).not.toContain('orchard');
    for (const [method, path, body] of writes())
      expect([path, await send(page, method, path, body)]).toEqual([path, 401]);
    expect(await send(page, 'GET', `/approvals/${asked.requestId}`, {})).toBe(401);
  });

  test('a viewer sees the card and no way to answer, and the API refuses what the page does not offer', async () => {
    const { page } = inbox;
    await signIn(page, viewer.token);
    await page.locator('article.card').waitFor();
    expect(await page.locator('article.card').innerText()).toContain('orchard');
    await page.getByText('You can look at requests but not answer them').waitFor();
    const answers = page.getByRole('button', { name: /approve|deny|respond|edit|always|extend|delegate/i });
    for (const key of ['a', 'A', 'd', 'e', 'r', 'x', 'Enter']) await page.keyboard.press(key);
    expect(await answers.count()).toBe(0);
    expect(await page.getByRole('form').count()).toBe(0);
    for (const [method, path, body] of writes())
      expect([path, await send(page, method, path, body)]).toEqual([path, 403]);

    await page.goto(`${inbox.world.gateway.url}/inbox/`);
    await page.locator(`a[href*="${asked.requestId}"]`).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.goto(`${inbox.world.gateway.url}/inbox/runs/${asked.workflowId}`);
    await page.getByText('waiting for approval').waitFor();
    expect(await page.getByRole('button', { name: /cancel|close|revoke/i }).count()).toBe(0);
    await page.goto(`${inbox.world.gateway.url}/inbox/start`);
    await page.getByText('This needs the role starter').waitFor();
    expect(await page.getByRole('button', { name: 'Start', exact: true }).count()).toBe(0);
  });

  test('somebody without any role sees no request at all', async () => {
    const { page } = inbox;
    await inbox.browser.context.clearCookies();
    await signIn(page, nobody.token);
    await page.getByRole('heading', { name: 'This request cannot be shown' }).waitFor();
    expect(await page.content()).not.toContain('orchard');
    for (const path of ['/approvals', '/approvals/events', '/runs', `/runs/${asked.workflowId}/events`]) {
      expect([path, await send(page, 'GET', path, {})]).toEqual([path, 403]);
    }
  });

  test('the request is still open', async () => {
    const { client } = inbox.world;
    expect((await client.approvals.get(asked.requestId, { workflowId: asked.workflowId })).settled).toBeUndefined();
    expect(inbox.world.ran()).toEqual([]);
  });
});
