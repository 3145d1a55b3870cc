import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtInbox } from '../../../packages/gateway/src/http/inbox/built-inbox.ts';
import type * as GatewayModule from '../../../packages/gateway/src/index.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** The files of the inbox, while gateways build them and while a newer version takes their place. */

if (chromium === undefined) {
  process.stderr.write('inbox/new-files.test.ts: skipped, because there is no Chromium here\n');
}
const withChromium = chromium === undefined ? describe.skip : describe;

const root = join(import.meta.dirname, '..', '..', '..');

/** A checkout that has nothing but the gateway, which nobody has built there. */
function copyGateway(): { folder: string; module: string; dist: string } {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-gateway-'));
  const gateway = join(folder, 'packages', 'gateway');
  for (const name of ['src', 'package.json', 'vite.config.ts']) {
    cpSync(join(root, 'packages', 'gateway', name), join(gateway, name), { recursive: true });
  }
  for (const name of ['node_modules', 'tsconfig.json']) symlinkSync(join(root, name), join(folder, name));
  return { folder, module: pathToFileURL(join(gateway, 'src', 'index.ts')).href, dist: join(gateway, 'dist') };
}

withChromium('files of the inbox (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    inbox = await openInboxPage();
  });
  afterAll(() => inbox?.close());

  test('of two gateways that start together one builds the inbox, and no page lacks a file', async () => {
    const { folder, module, dist } = copyGateway();
    const main = fileURLToPath(new URL('./copied-gateway-main.ts', import.meta.url));
    const built: string[] = [];
    const [failed, pages, opening] = [[] as string[], [] as Page[], [] as Promise<void>[]];
    const children = ['first', 'second'].map((name) => {
      const child = spawn(process.execPath, [main, module], { stdio: ['ignore', 'pipe', 'inherit'] });
      return { name, child, gone: once(child, 'exit') };
    });
    try {
      await Promise.all(
        children.map(async ({ name, child }) => {
          const page = await inbox.otherPage();
          pages.push(page);
          page.on('requestfinished', async (request) => {
            const status = (await request.response())!.status();
            if (request.url().includes('/inbox/') && status !== 200) failed.push(`${status} ${request.url()}`);
          });
          for await (const line of createInterface({ input: child.stdout })) {
            if (line === 'Building the inbox …') built.push(name);
            const [, url] = /^ready (.*)$/.exec(line) ?? [];
            if (url === undefined) continue;
            // The log goes on while the page loads, and ends with the gateway.
            opening.push(opened(page, url).finally(() => child.kill()));
          }
        }),
      );
      await Promise.all(opening);
      expect(failed).toEqual([]);
      expect(built).toHaveLength(1);
      expect(readdirSync(dist)).toEqual([expect.stringMatching(/^inbox-[0-9a-f]{16}$/)]);
    } finally {
      for (const { child } of children) child.kill('SIGKILL');
      await Promise.all(children.map(({ gone }) => gone));
      for (const page of pages) await page.close();
      rmSync(folder, { recursive: true });
    }
  });

  describe('of which a gateway has a newer version', () => {
    let copy: ReturnType<typeof copyGateway>;
    let newer: GatewayModule.Gateway;
    beforeAll(async () => {
      copy = copyGateway();
      // As it is installed: built, without the sources of the inbox.
      rmSync(join(copy.folder, 'packages', 'gateway', 'src', 'inbox'), { recursive: true });
      const inboxOf = join(copy.dist, 'inbox');
      mkdirSync(copy.dist);
      cpSync(await builtInbox(() => undefined), inboxOf, { recursive: true });
      renewFiles(inboxOf);
      const { startGateway } = (await import(copy.module)) as typeof GatewayModule;
      newer = await startGateway({ client: inbox.world.client, port: 0, log: () => undefined });
    });
    afterAll(async () => {
      await newer?.stop();
      rmSync(copy.folder, { recursive: true });
    });

    /** From now on the browser gets the newer version, except for the first `count` requests of the page. */
    async function replaceAfter(page: Page, count: number): Promise<{ documents: number }> {
      const { url } = inbox.world.gateway;
      const seen = { documents: 0 };
      let left = count;
      await page.route(`${url}/inbox/**`, async (route, request) => {
        if (request.resourceType() === 'document') seen.documents += 1;
        if (left-- > 0) return route.continue();
        const { pathname, search } = new URL(request.url());
        return route.fulfill({ response: await route.fetch({ url: `${newer.url}${pathname}${search}` }) });
      });
      return seen;
    }

    test('a page whose files are gone while it loads is loaded anew', async () => {
      const page = await inbox.otherPage();
      const seen = await replaceAfter(page, 1);
      await opened(page, inbox.world.gateway.url);
      expect(seen.documents).toBe(2);
      expect(await page.locator('script[type=module]').getAttribute('src')).toContain('newer');
      await page.close();
    });

    test('a page that needs another file later is loaded anew', async () => {
      const { page } = inbox;
      const asked = await inbox.ask('echo', { text: 'lorem ipsum '.repeat(10_000) });
      await inbox.show(asked);
      const seen = await replaceAfter(page, 0);
      await page.getByRole('button', { name: 'Show everything' }).click();
      await page.locator('script[type=module][src*=newer]').waitFor({ state: 'attached' });
      expect(seen.documents).toBe(1);
      await page.getByRole('button', { name: 'Show everything' }).click();
      await page.locator('button[aria-disabled=false]', { hasText: /^Approve$/ }).waitFor();
    });
  });
});

/** Opens the inbox, and waits for what its script shows. */
async function opened(page: Page, url: string): Promise<void> {
  const answer = await page.goto(`${url}/inbox/`);
  expect(answer?.status()).toBe(200);
  await page.locator('#main').waitFor({ state: 'attached' });
}

/** The same inbox with other names of its hashed files. */
function renewFiles(folder: string): void {
  const assets = join(folder, 'assets');
  const names = readdirSync(assets);
  for (const holder of [join(folder, 'index.html'), ...names.map((name) => join(assets, name))]) {
    const text = readFileSync(holder, 'utf8');
    writeFileSync(
      holder,
      names.reduce((each, name) => each.replaceAll(name, `newer-${name}`), text),
    );
  }
  for (const name of names) renameSync(join(assets, name), join(assets, `newer-${name}`));
}
