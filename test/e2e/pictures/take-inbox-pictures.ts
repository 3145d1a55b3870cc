import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { openBrowser } from '../../support/browser.ts';
import { openInboxStage } from '../inbox/inbox-stage.ts';
import { inboxViews } from '../inbox/inbox-views.ts';

interface Picture {
  /** The name of its file. */
  file: string;
  view: string;
  width?: number;
  colorScheme?: 'light' | 'dark';
  /** The part of the page from its top; default: as much as there is, at most 1,100 pixels. */
  height?: number;
}

const desk = 960;
const phone = 390;

const pictures: readonly Picture[] = [
  { file: 'inbox-list', view: 'list', height: 420 },
  { file: 'inbox-list-dark', view: 'list', colorScheme: 'dark', height: 420 },
  { file: 'inbox-list-phone', view: 'list', width: phone, height: 800 },
  { file: 'inbox-request', view: 'request with a change', height: 860 },
  { file: 'inbox-request-dark', view: 'request with a change', colorScheme: 'dark', height: 860 },
  { file: 'inbox-request-phone', view: 'request', width: phone, colorScheme: 'dark', height: 800 },
  { file: 'inbox-misleading', view: 'request with misleading text', height: 640 },
  { file: 'inbox-edit', view: 'edit' },
  { file: 'inbox-always', view: 'always' },
  { file: 'inbox-bulk', view: 'bulk', height: 640 },
  { file: 'inbox-run', view: 'run' },
  { file: 'inbox-operator', view: 'operator', width: 1_300 },
  { file: 'inbox-palette', view: 'palette', height: 560 },
];

/** Photographs the views of the web inbox into `FOLDER/inbox-*.png`. */
export async function takeInboxPictures(options: { chromium: string; pictures: string }): Promise<void> {
  const server = await startDevServer({ uiPort: null });
  const stage = await openInboxStage({ address: server.address });
  const browser = await openBrowser(options.chromium);
  const views = inboxViews(stage);
  try {
    for (const { file, view, width = desk, height, colorScheme = 'light' } of pictures) {
      const page = await browser.context.newPage();
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: height ?? 900 });
      await views.find(({ name }) => name === view)!.open(page);
      await page.screenshot({
        path: join(options.pictures, `${file}.png`),
        ...(height === undefined && { clip: { x: 0, y: 0, width, height: await contentHeight(page) }, fullPage: true }),
      });
      await page.close();
    }
  } finally {
    await browser.close();
    await stage.close();
    await server.stop();
  }
}

async function contentHeight(page: Page): Promise<number> {
  return Math.min(1_100, await page.evaluate<number>('document.documentElement.scrollHeight'));
}
