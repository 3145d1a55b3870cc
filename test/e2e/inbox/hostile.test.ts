import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { testAgent } from '../../support/test-agent.ts';
import { chromium, type InboxPage, openInboxPage } from '../../support/inbox-page.ts';

/** Arguments that an attacker wrote, in a real browser. */

if (chromium === undefined) process.stderr.write('inbox/hostile.test.ts: skipped, because there is no Chromium here\n');
const withChromium = chromium === undefined ? describe.skip : describe;

const scripts = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '"><svg onload=window.hacked=1>',
  'javascript:window.hacked=1',
];
const longText = 'lorem ipsum <b>dolor</b> '.repeat(40_000);

withChromium('hostile arguments (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const policy = { version: 1, rules: [{ id: 'all<script>', pattern: '*', action: 'ask', reason: scripts[0]! }] };
    inbox = await openInboxPage({
      agentsIn: (folder) => {
        const tester = testAgent(folder, policy);
        // The megabyte is in the script, not in the input: a run holds two of them, and no more.
        const model = scriptedModel([{ calls: [{ tool: 'echo', args: { text: longText } }] }, { text: 'done' }]);
        return [tester, defineAgent({ ...tester, name: 'large', model })];
      },
    });
  }, 300_000);
  afterAll(() => inbox?.close());

  test('markup is text everywhere, and what is invisible stands out', async () => {
    const { page } = inbox;
    const asked = await inbox.ask('echo', {
      scripts,
      'key<img src=x onerror="window.hacked=1">': 'x',
      name: 'invoice\u202Efdp.exe',
      spaces: 'a\u200Bb\uFEFF',
    });
    await inbox.show(asked);
    const card = page.locator('article.card');
    for (const text of scripts) expect(await card.textContent()).toContain(text);
    expect(await card.locator('mark').allTextContents()).toEqual(
      expect.arrayContaining(['\\u{202E}', '\\u{200B}', '\\u{FEFF}']),
    );
    expect(await page.locator('main').textContent()).not.toMatch(/[\u202E\u200B\uFEFF]/);
    await page.locator('.run-events li').first().waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/[\u202E\u200B\uFEFF]/);
    await page.getByRole('button', { name: 'Edit …' }).click();
    await page.getByText('With invisible or look-alike characters').first().waitFor();
    expect(await page.locator('main :is(script, img, svg, iframe, [onerror], [onload])').count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate(`'hacked' in window`)).toBe(false);
  });

  test('a megabyte does not freeze the page, and can be seen in full before it is approved', async () => {
    const { page, world } = inbox;
    const run = await world.start([], { agent: 'large', input: 'Go on' });
    const [request] = await run.open();
    const asked = { run, workflowId: run.workflowId, requestId: request!.requestId };
    await inbox.show(asked);
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await page.getByText('Not all is on this card').waitFor();
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    const blocked = longestTask(inbox);
    await page.getByRole('button', { name: 'Show everything' }).click();
    await page
      .getByRole('button', { name: /^Show all/ })
      .first()
      .waitFor();
    await page.locator('button[aria-disabled=false]', { hasText: 'Approve' }).waitFor();
    await page.getByText('The raw call').click();
    expect(await blocked()).toBeLessThan(1_000);
    await page
      .getByRole('button', { name: /^Show all/ })
      .first()
      .click();
    // In quotes, because it ends with a blank.
    const shown = await page.locator('article.card dd pre').first().textContent();
    expect(shown === `"${longText}"`).toBe(true);
    await approve.click();
    await page.getByText('Your answer settled it').waitFor();
    const { settled } = await world.client.approvals.get(asked.requestId);
    expect(settled).toMatchObject({ outcome: 'approved' });
  });

  test('the browser complained of nothing, and asked no other server', () => {
    expect(inbox.complaints).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });
});

/** Measures how long the page stood still at most, in milliseconds. */
function longestTask({ page }: InboxPage): () => Promise<number> {
  const started = page.evaluate(`
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ entryTypes: ['longtask'] });
  `);
  return async () => {
    await started;
    return page.evaluate<number>('window.longest');
  };
}
