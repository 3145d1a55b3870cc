import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Browser as Chromium, BrowserContext } from 'playwright-core';
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

/** A profile in a headless Chromium, empty at first. */
export interface Browser {
  context: BrowserContext;
  close(): Promise<void>;
}

const look = { viewport: { width: 1_400, height: 1_100 }, timezoneId: 'UTC', locale: 'en-GB' };
/** Without background network access. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Beside other work, what a test waits for may take minutes. */
const timeoutMs = 200_000;

let shared: Promise<Chromium> | undefined;

/**
 * Opens a private profile in the Chromium that the test files of this process share. It ends with the process; one that
 * has ended before, or did not start, is launched again.
 */
export async function openSharedBrowser(executablePath: string): Promise<Browser> {
  const known = await shared?.catch(() => undefined);
  if (known?.isConnected() !== true) shared = chromium.launch({ executablePath, headless: true, args });
  const context = await (await shared!).newContext(look);
  context.setDefaultTimeout(timeoutMs);
  return { context, close: () => context.close() };
}

/** Opens a Chromium of its own, with a profile that is not private. */
export async function openBrowser(executablePath: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'countersign-browser-'));
  const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, ...look, args });
  context.setDefaultTimeout(timeoutMs);
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
