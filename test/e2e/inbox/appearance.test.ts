import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { PresentPolicy, Statistics } from '../../../packages/gateway/src/http/inbox/api.ts';
import { medianText } from '../../../packages/gateway/src/inbox/state/texts.ts';
import { axeFindings } from './axe.ts';
import { type Browser, findChromium, openSharedBrowser } from '../../support/browser.ts';
import { firstView } from './first-view.ts';
import { type InboxStage, openInboxStage } from './inbox-stage.ts';
import { inboxViews, type StagedView } from './inbox-views.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { testBundle } from '../../support/world.ts';

/**
 * How every view looks: on a phone, on a desk and at double size, dark, light and in forced colours, for eyes, for screen
 * readers and for keyboards.
 */

const chromium = findChromium();
const withChromium = chromium === undefined ? describe.skip : describe;

const phone = { width: 380, height: 800 };
const desk = { width: 1_280, height: 900 };
/** The desk at 200 %. */
const zoomed = { width: desk.width / 2, height: desk.height / 2 };
const names = [
  'list',
  'list without a match',
  'empty tab',
  'bulk',
  'request',
  'request with a change',
  'request with misleading text',
  'deny',
  'edit',
  'always',
  'respond',
  'extend',
  'delegate',
  'move',
  'undo',
  'settled',
  'selected rows',
  'filters',
  'offline',
  'loading',
  'settings',
  'journal',
  'decided',
  'nothing decided',
  'runs',
  'run',
  'open run',
  'cancel',
  'start',
  'operator',
  'not found',
  'palette',
  'help',
];

withChromium('every view of the inbox (needs Chromium)', () => {
  let stage: InboxStage;
  let browser: Browser;
  let page: Page;
  let views: StagedView[];
  const complaints: string[] = [];
  beforeAll(async () => {
    // The bar with which an approval can be undone stays as long as a test looks at it.
    const undoMs = 600_000;
    const where = { address: sharedAddress(), namespace: await makeOwnInbox() };
    stage = await openInboxStage({ ...where, workflowBundle: { codePath: testBundle() }, undoMs });
    views = inboxViews(stage);
    browser = await openSharedBrowser(chromium!);
    page = await browser.context.newPage();
    browser.context.on('weberror', (error) => complaints.push(String(error.error())));
    browser.context.on('console', (message) => {
      // A test breaks the stream of a page on purpose.
      if (message.type() === 'error' && !message.text().includes('net::ERR_FAILED')) complaints.push(message.text());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });

  test('the list names every view', () => {
    expect(views.map(({ name }) => name)).toEqual(names);
  });

  test.each(names)(
    '%s, on a phone, on a desk and at double size: nothing overflows, axe finds nothing, Tab reaches every control',
    async (name) => {
      // What the view before has held back.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.setViewportSize(phone);
      await views.find((view) => view.name === name)!.open(page);
      for (const size of [phone, desk]) {
        await page.setViewportSize(size);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, forcedColors: 'none' });
          expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
          expect(await page.evaluate<string[]>(brokenWords)).toEqual([]);
          // Only colours differ from the light page.
          const found = await axeFindings(page, colorScheme === 'light' ? undefined : ['color-contrast']);
          expect({ size, colorScheme, found }).toEqual({ size, colorScheme, found: [] });
        }
        const { wanted, missed } = await tabThrough(page);
        expect(wanted).toBeGreaterThan(0);
        expect(missed).toEqual([]);
        expect(await page.evaluate<string[]>(hiddenControls)).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
      expect(await page.evaluate<string[]>(lostSigns)).toEqual([]);
      await page.setViewportSize(zoomed);
      expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
      expect(await page.evaluate<string[]>(brokenWords)).toEqual([]);
      expect(await page.evaluate<number>(markControls)).toBeGreaterThan(0);
      expect(await page.evaluate<string[]>(hiddenControls)).toEqual([]);
    },
  );

  test('the first view loads one page, its script, the one that reloads, one style sheet, and asks twice', async () => {
    // Another page of the same profile would share its stream.
    const own = await openSharedBrowser(chromium!);
    const { paths, bytes } = await firstView(own.context, `${stage.gateway.url}/inbox/`);
    await own.close();
    const files = [...new Set(paths)].map((path) => path.replace(/index-[\w-]+/, 'index'));
    expect(files.toSorted()).toEqual([
      '/approvals/events',
      '/inbox/',
      '/inbox/assets/index.css',
      '/inbox/assets/index.js',
      '/inbox/icon.svg',
      '/inbox/reload.js',
      '/me',
    ]);
    expect(bytes).toBeLessThan(75_000);
  });

  // On slow 4G (1.6 Mbit/s, 150 ms per round trip) it is there within a second: the round trips for the connection, the
  // page and its files take 450 ms, and 70 kB take 350 ms.
  test('the first view is on the screen before the API answers', async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const path of ['**/me', '**/approvals/events']) await page.route(path, () => undefined);
    await page.goto(`${stage.gateway.url}/inbox/`);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.getByText('Loading the open requests …').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('the figures of the page for operators are those of the API, and of what was decided', async () => {
    const read = async <T>(path: string): Promise<T> =>
      (await page.waitForResponse((response) => new URL(response.url()).pathname === path)).json();
    const answers = Promise.all([read<PresentPolicy>('/policy'), read<Statistics>('/statistics')]);
    await page.goto(`${stage.gateway.url}/inbox/operator`);
    const [policy, { reviewers, agents }] = await answers;
    const cells = async (title: string): Promise<string[][]> => {
      await page
        .getByRole('region', { name: `Table: ${title}` })
        .locator('tbody tr')
        .first()
        .waitFor();
      return page.evaluate<string[][]>(`[...document.querySelectorAll('[aria-label="Table: ${title}"] tbody tr')]
        .map((row) => [...row.children].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()))`);
    };
    const share = ({ count, of }: { count: number; of: number }): string =>
      of === 0 ? '–' : `${Math.round((count / of) * 100)} % (${count} of ${of})`;
    const median = (ms: number | null): string => (ms === null ? '–' : medianText(ms));
    const quick = new Map(reviewers.map((each) => [each.reviewerId, each]));
    const [bob, rita] = [quick.get('bob')!, quick.get('rita')!];
    expect((await cells('Reviewers')).toSorted(([one], [other]) => one!.localeCompare(other!))).toEqual([
      [
        expect.stringMatching(/^bob Often quick \(5 of 5 under 3 s\)$/),
        '5',
        '100 % (5 of 5)',
        median(bob.medianMs),
        share(bob.underThreeSeconds),
        '100 % (5 of 5)',
        '0 % (0 of 5)',
        '0 % (0 of 5)',
      ],
      [
        'rita',
        '2',
        '50 % (1 of 2)',
        median(rita.medianMs),
        share(rita.underThreeSeconds),
        '0 % (0 of 1)',
        '0 % (0 of 2)',
        '0 % (0 of 2)',
      ],
    ]);
    expect(agents.length).toBeGreaterThan(0);
    expect(await cells('Agents')).toEqual(
      agents.map(({ agent, runs, others, inputTokens, outputTokens }) => [
        agent,
        ...[runs, others, inputTokens, outputTokens].map((count) => count.toLocaleString('en')),
        '–',
      ]),
    );
    const rules = await cells('Rules of the policy');
    expect(rules.map(([, , , ...figures]) => figures)).toEqual(
      policy.present!.rules.map(({ statistics: each }) =>
        each === undefined
          ? ['decided no call']
          : [
              String(each.allowed),
              String(each.deniedByPolicy),
              each.open > 0 ? `${each.asked} (${each.open} open)` : String(each.asked),
              share(each.approvalRate),
              String(each.denied),
              median(each.medianMs),
              share(each.underThreeSeconds),
              share(each.expiredShare),
            ],
      ),
    );
    // Five open requests, and one for each of the seven runs that were settled.
    const asked = policy.present!.rules.map(({ statistics: each }) => [each?.asked ?? 0, each?.open ?? 0] as const);
    expect(asked.reduce(([asked, open], each) => [asked + each[0], open + each[1]], [0, 0])).toEqual([12, 5]);
  });

  test('the browser complained of nothing', () => {
    expect(complaints).toEqual([]);
  });
});

const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Short words of tables, headings and buttons that do not stand on one line. */
const brokenWords = `[...document.querySelectorAll('main :is(th, td, h1, h2, button, dt), dialog :is(button, h2)')]
  .flatMap((each) => {
    const texts = [];
    const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) texts.push(walker.currentNode);
    return texts;
  })
  .flatMap((text) => [...text.data.matchAll(/(?<![\\w-])\\w{2,12}(?![\\w-])/g)].filter(({ index, 0: word }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return new Set([...range.getClientRects()].filter(({ width }) => width > 1).map(({ top }) => Math.round(top))).size > 1;
  }).map(([word]) => word))`;

/**
 * What forced colours leave without a sign: warnings, severities and the prominent button without a frame, and chosen
 * links and options that look like the others.
 */
const lostSigns = `[
  ...[...document.querySelectorAll('.warnings, .beside-warning, .note, .severity, button.primary')].filter((each) => {
    const { borderTopWidth, borderTopColor, backgroundColor } = getComputedStyle(each);
    return each.checkVisibility() && (borderTopWidth === '0px' || borderTopColor === backgroundColor);
  }),
  ...[['nav', '[aria-current]', 'borderBottomColor'], ['[role=listbox]', '[aria-selected=true]', 'backgroundColor']].flatMap(
    ([group, chosen, property]) =>
      [...document.querySelectorAll(group + ' ' + chosen)].filter((each) =>
        [...each.parentElement.children].some((other) =>
          other !== each && getComputedStyle(other)[property] === getComputedStyle(each)[property])),
  ),
].map((each) => each.outerHTML.slice(0, 200))`;

/** Marks the controls that Tab must reach, and counts them. In a group of radio buttons, the arrow keys move. */
const markControls = `
  document.querySelectorAll('[data-reach]').forEach((each) => delete each.dataset.reach);
  const root = document.querySelector('dialog[open]') ?? document;
  const controls = [...root.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter((each) => each.checkVisibility() && !each.matches(':disabled, [tabindex="-1"]'))
    .filter((each) => each.type !== 'radio' || each.checked);
  controls.forEach((each, index) => { each.dataset.reach = String(index); });
  controls.length`;

/** The marked controls whose middle is cut off, or behind something else, although they are scrolled into view. */
const hiddenControls = `[...document.querySelectorAll('[data-reach]')]
  .filter((each) => {
    each.focus({ preventScroll: true }); // the link past the header shows itself only then
    each.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const [{ left, top, width, height }] = each.getClientRects();
    const found = document.elementFromPoint(left + width / 2, top + Math.min(height, innerHeight) / 2);
    return found === null || !(each.contains(found) || found.contains(each) && found.tagName === 'LABEL');
  })
  .map((each) => each.outerHTML.slice(0, 200))`;

/** Notes which of the marked controls get the focus. */
const noteFocus = `
  globalThis.reached = new Set();
  document.addEventListener('focusin', ({ target }) => reached.add(target.dataset.reach));`;

const missedControls = `[...document.querySelectorAll('[data-reach]')]
  .filter((each) => !reached.has(each.dataset.reach))
  .map((each) => each.outerHTML.slice(0, 200))`;

/** Presses Tab until the focus has been everywhere, and names the controls that it did not reach. */
async function tabThrough(page: Page): Promise<{ wanted: number; missed: string[] }> {
  const wanted = await page.evaluate<number>(markControls);
  await page.evaluate(noteFocus);
  let missed: string[] = [];
  // A dialog lets the focus out to the browser once in each round.
  for (let round = 1; round <= 2; round++) {
    for (let pressed = 0; pressed < wanted + 5; pressed++) await page.keyboard.press('Tab');
    missed = await page.evaluate<string[]>(missedControls);
    if (missed.length === 0) break;
  }
  return { wanted, missed };
}
