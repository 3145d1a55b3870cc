import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** Chromium on this machine: from the PATH, or Playwright's own; undefined if there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const onPath = folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path));
  if (onPath !== undefined) return onPath;
  const own = chromium.executablePath();
  return existsSync(own) ? own : undefined;
}

export interface Browser {
  context: BrowserContext;
  close(): Promise<void>;
}

/** Opens a headless Chromium with an empty profile and without background network access. */
export async function openBrowser(executablePath: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'countersign-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    viewport: { width: 1_400, height: 1_100 },
    timezoneId: 'UTC',
    locale: 'en-GB',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
