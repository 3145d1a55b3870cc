/** The card as a page in a real browser: it loads and runs nothing, and it fits a phone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { cardOf } from '../../../src/card/card-of.ts';
import { renderHtmlPage } from '../../../src/card/render-html.ts';
import { type Browser, findChromium, openSharedBrowser } from '../../support/browser.ts';
import { cardSamples, sampleNowMs } from '../../card/card-samples.ts';

const chromium = findChromium();
const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('the page of a card (needs Chromium)', () => {
  let browser: Browser;
  let page: Page;
  const requests: string[] = [];
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await openSharedBrowser(chromium!);
    page = await browser.context.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
  });
  afterAll(() => browser.close());

  const attack = '<img src="http://127.0.0.1:9/x" onerror="document.title = 1"><script>document.title = 1</script>';
  const mail = cardSamples['mail']!;
  const hostile = {
    ...mail,
    sentence: attack,
    toolName: attack,
    arguments: { ...mail.arguments, [attack]: attack, long: `${'x'.repeat(400)} ${attack}` },
  };

  /** Runs in the page. */
  const look = `(() => {
    const card = document.querySelector('.card');
    const { scrollWidth, clientWidth } = document.documentElement;
    return {
      paper: getComputedStyle(card).backgroundColor,
      overflow: scrollWidth - clientWidth,
      images: document.querySelectorAll('img, script, iframe, a, form, input').length,
      title: document.title,
      raw: card.querySelector('details').open,
    };
  })()`;

  test.each([
    [380, 'light', 'rgb(255, 255, 255)'],
    [380, 'dark', 'rgb(22, 25, 29)'],
    [1_200, 'light', 'rgb(255, 255, 255)'],
    [1_200, 'dark', 'rgb(22, 25, 29)'],
  ] as const)('%d px, %s', async (width, colorScheme, paper) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await page.setContent(renderHtmlPage(cardOf(hostile, { nowMs: sampleNowMs })));
    const seen = await page.evaluate(look);
    expect(seen).toEqual({ paper, overflow: 0, images: 0, title: attack, raw: false });
    // One action shows every value.
    await page.locator('summary').click();
    expect(await page.locator('details pre').innerText()).toContain(String.raw`"to":"billing@\u0430cme.com"`);
    expect([requests, complaints]).toEqual([[], []]);
  });
});
