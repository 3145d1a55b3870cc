import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { cardOf } from '../../../src/card/card-of.ts';
import { renderHtmlPage } from '../../../src/card/render-html.ts';
import { openBrowser } from '../../support/browser.ts';
import { besidePage, slackPage, terminalPage } from './card-pages.ts';
import { cardSamples, sampleNowMs } from '../../card/card-samples.ts';

interface Look {
  width: number;
  scheme?: 'dark' | 'light';
  /** The element to photograph. Default: the whole page. */
  element?: string;
}

async function photograph(
  context: BrowserContext,
  html: string,
  { width, scheme = 'light', element }: Look,
): Promise<Buffer> {
  const page = await context.newPage();
  try {
    await page.setViewportSize({ width, height: 600 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.setContent(html);
    return await (element === undefined ? page.screenshot({ fullPage: true }) : page.locator(element).screenshot());
  } finally {
    await page.close();
  }
}

/** Photographs the cards of `cardSamples` on each channel, for docs/card.md. */
export async function takeCardPictures({ chromium, pictures }: { chromium: string; pictures: string }): Promise<void> {
  const browser = await openBrowser(chromium);
  const { context } = browser;
  try {
    for (const [name, request] of Object.entries(cardSamples)) {
      const card = cardOf(request, { nowMs: sampleNowMs });
      const html = renderHtmlPage(card);
      const write = (channel: string, picture: Buffer): void =>
        writeFileSync(join(pictures, `card-${name}-${channel}.png`), picture);
      const beside = async (...looks: Look[]): Promise<Buffer> => {
        const taken: Buffer[] = [];
        for (const look of looks) taken.push(await photograph(context, html, look));
        return photograph(context, besidePage(taken), { width: 1_300, element: 'body' });
      };
      write('terminal', await photograph(context, terminalPage(card, 80), { width: 1_000, element: 'pre' }));
      write('html', await beside({ width: 780 }, { width: 380, scheme: 'dark' }));
      write('html-dark', await beside({ width: 780, scheme: 'dark' }, { width: 380 }));
      write('slack', await photograph(context, slackPage(card), { width: 640 }));
    }
  } finally {
    await browser.close();
  }
}
