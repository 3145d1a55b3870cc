import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { approvalOf } from './approval-of.ts';
import { eventually } from '../../support/eventually.ts';
import { testAgent } from '../../support/test-agent.ts';
import { chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';

/** Arguments that an attacker wrote, in a real browser. */

const withChromium = chromium === undefined ? describe.skip : describe;

const scripts = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '"><svg onload=window.hacked=1>',
  'javascript:window.hacked=1',
];
const longText = 'lorem ipsum <u>dolor</u> '.repeat(40_000);

/** A value in so many objects. */
const nested = (levels: number): object =>
  Array.from({ length: levels }).reduce<object>((inner, _, index) => ({ [`level${index}`]: inner }), {
    end: '<u>end</u>',
  });
const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field_${index}`, `<u>value ${index}</u>`]));
const markup = 'main :is(script, img, iframe, u, [onerror], [onload]), dialog :is(script, img, iframe, u, [onerror])';

withChromium('hostile arguments (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const policy = {
      version: 1,
      rules: [{ id: 'all<script>', pattern: '*', action: 'ask', reason: scripts[0]! }],
      approval: { show: { echo: ['scripts', 'name', 'x"><u>y</u>', 'field_0', 'field_1', 'field_2', 'field_3'] } },
    };
    inbox = await openInboxPage({
      agentsIn: (folder) => {
        const tester = testAgent(folder, policy);
        // The megabyte is in the script, not in the input: a run holds two of them, and no more.
        const model = scriptedModel([{ calls: [{ tool: 'echo', args: { text: longText } }] }, { text: 'done' }]);
        return [tester, defineAgent({ ...tester, name: 'large', model })];
      },
    });
  });
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
    await page.locator('.conversation li').first().waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/[\u202E\u200B\uFEFF]/);
    await page.getByRole('button', { name: 'Edit …' }).click();
    await page.getByText('With invisible or look-alike characters').first().waitFor();
    expect(await page.locator('main :is(script, img, svg, iframe, [onerror], [onload])').count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate(`'hacked' in window`)).toBe(false);
  });

  test('on a phone and on a desk, row, dialog, palette, title and page of the run show text only', async () => {
    const { page, world } = inbox;
    const asked = [
      await inbox.ask('echo', { scripts, name: 'invoice\u202Efdp.exe', 'x"><u>y</u>': '<u>z</u>' }),
      await inbox.ask('echo', nested(60)),
      await inbox.ask('echo', many),
    ];
    const isInert = async (): Promise<void> => {
      expect(await page.locator(markup).count()).toBe(0);
      expect(await page.evaluate(`'hacked' in window`)).toBe(false);
      expect(await page.locator('body').textContent()).not.toMatch(/[\u202E\u200B\uFEFF]/);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      for (const width of [380, 1_400]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
      }
    };
    await page.goto(world.gateway.url);
    const rows = asked.map(({ requestId }) =>
      page.locator('.requests li', { has: page.locator(`a[href*="${requestId}"]`) }),
    );
    for (const row of rows) {
      await row.getByText('anyone can answer').waitFor();
      await row.getByRole('checkbox').check();
    }
    expect(await rows[0]!.textContent()).toContain('<script>window.hacked = 1</script>');
    expect(await rows[2]!.textContent()).toContain('and more');
    await isInert();
    await page.getByRole('button', { name: 'Approve …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('left out').waitFor();
    expect(await dialog.textContent()).toContain('not all of it fits here');
    await isInert();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find a page' }).fill('hacked');
    await page
      .getByRole('option', { name: /window.hacked/ })
      .first()
      .waitFor();
    await isInert();
    await page.keyboard.press('Escape');
    for (const { workflowId } of asked) {
      await page.goto(`${world.gateway.url}/inbox/runs/${workflowId}`);
      await page.getByText('waiting for approval').waitFor();
      await isInert();
    }
    // The number is there when the list of open requests is.
    await eventually('the title counts', async () => /^\(\d+\) tester: .* · Countersign$/.test(await page.title()));
    for (const { workflowId } of asked) await world.client.cancel(workflowId);
  });

  test('200 fields can all be read and edited', async () => {
    const { page } = inbox;
    const asked = await inbox.ask('echo', many);
    await inbox.show(asked);
    await page.getByRole('button', { name: 'Show everything' }).click();
    await page.locator('article.card dd', { hasText: 'value 199' }).waitFor();
    await page.locator('[data-form=edit][aria-disabled=false]').click();
    const form = page.getByRole('form', { name: 'Edit the arguments' });
    const text = form.getByLabel('All arguments as JSON');
    await text.fill((await text.inputValue()).replace('<u>value 199</u>', 'another'));
    await form.getByRole('button', { name: 'Approve with these arguments' }).click();
    await page.getByText('Approved with your changes: field_199 <u>value 199</u> → another').waitFor();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    const { settled } = await inbox.world.client.approvals.get(asked.requestId);
    expect(settled).toMatchObject({ outcome: 'approved' });
    expect(await page.locator(markup).count()).toBe(0);
  });

  test('a megabyte does not freeze the page, and can be seen in full before it is approved', async () => {
    const { page, world } = inbox;
    const run = await world.start([], { agent: 'large', input: 'Go on' });
    const [request] = await run.open();
    const asked = { run, workflowId: run.workflowId, requestId: request!.requestId };
    // Together with another, it is left out: nobody could read it there.
    const small = await inbox.ask('echo', { text: 'small' });
    await page.goto(world.gateway.url);
    for (const { requestId } of [asked, small]) {
      const row = page.locator('.requests li', { has: page.locator(`a[href*="${requestId}"]`) });
      await row.getByRole('checkbox').check();
    }
    await page.getByText(/kB of arguments/).waitFor();
    await page.getByRole('button', { name: 'Approve …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve one request' });
    await dialog.getByText('One request is left out.').waitFor();
    expect(await dialog.getByRole('link').getAttribute('href')).toContain(asked.requestId);
    await dialog.getByRole('button', { name: 'Approve 1' }).click();
    await passUndo(page);
    await page.getByRole('dialog', { name: 'Results' }).waitFor();
    expect(await world.client.approvals.get(asked.requestId)).not.toHaveProperty('settled');
    expect(await world.client.approvals.get(small.requestId)).toMatchObject({ settled: { outcome: 'approved' } });
    await inbox.show(asked);
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await page.getByText('Show everything before you approve it.').waitFor();
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Show everything' }).click();
    await page
      .getByRole('button', { name: /^Show all/ })
      .first()
      .waitFor();
    await page.locator('button[aria-disabled=false]', { hasText: /^Approve$/ }).waitFor();
    await page.locator('summary', { hasText: 'Details' }).click();
    // What the browser lays out is a small part of it.
    const card = page.locator('article.card');
    expect(((await card.textContent()) ?? '').length).toBeLessThan(100_000);
    expect(await card.locator('*').count()).toBeLessThan(1_000);
    await page
      .getByRole('button', { name: /^Show all/ })
      .first()
      .click();
    // In quotes, because it ends with a blank.
    const shown = await page.locator('article.card dd pre').first().textContent();
    expect(shown === `"${longText}"`).toBe(true);
    await approve.click();
    await passUndo(page);
    await page.getByText(/^You \w+ this at/).waitFor();
    await eventually('the run says so', async () => {
      const request = await approvalOf(world.client, asked.requestId);
      return request.settled?.outcome === 'approved';
    });
  });

  test('the browser complained of nothing, and asked no other server', () => {
    expect(inbox.complaints).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });
});
