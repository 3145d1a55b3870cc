import { eventually } from '../../support/eventually.ts';
import type { BrowserContext, CDPSession } from 'playwright-core';

/** What the first view of the inbox cost. Times since the navigation began, in milliseconds. */
export interface FirstView {
  /** Requests until the open requests are listed; the stream of the list is one of them. */
  requests: number;
  /** What these answers took on the wire, compressed and with their headers. */
  bytes: number;
  /** Their paths, in order. */
  paths: string[];
  /** Until the page of the inbox is on the screen: its header, and that the list is loading. */
  paintedMs: number;
  /** Until the open requests are on the screen. */
  listedMs: number;
}

/** "Slow 4G" of Lighthouse, bytes and milliseconds. */
const slow4G = {
  latency: 150,
  downloadThroughput: (1.6 * 1_024 * 1_024) / 8,
  uploadThroughput: (0.75 * 1_024 * 1_024) / 8,
};

/** Opens an address of the inbox with an empty cache. */
export async function firstView(context: BrowserContext, url: string, { isSlow = false } = {}): Promise<FirstView> {
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  if (isSlow) await network.send('Network.emulateNetworkConditions', { offline: false, ...slow4G });
  const traffic = countTraffic(network);
  // A mark for each moment at which something is there, by the page's own clock.
  await page.addInitScript(`
    const moments = {};
    globalThis.moments = moments;
    const look = () => {
      if (document.querySelector('main h1') !== null) moments.painted ??= performance.now();
      if (document.querySelector('.requests li') !== null) moments.listed ??= performance.now();
      if (moments.listed === undefined) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);`);
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator('.requests li').first().waitFor();
  const moments = await eventually('the page has marked the moment', () =>
    page
      .evaluate<{ painted: number; listed?: number }>('globalThis.moments')
      .then(({ painted, listed }) => listed !== undefined && { painted, listed }),
  );
  const { requests, bytes, paths } = traffic();
  await page.close();
  return { requests, bytes, paths, paintedMs: moments.painted, listedMs: moments.listed };
}

function countTraffic(network: CDPSession): () => Pick<FirstView, 'requests' | 'bytes' | 'paths'> {
  const sent = new Map<string, { path: string; bytes: number }>();
  network.on('Network.requestWillBeSent', ({ requestId, request }) => {
    sent.set(requestId, { path: new URL(request.url).pathname, bytes: 0 });
  });
  const add = (requestId: string, bytes: number): void => {
    const known = sent.get(requestId);
    if (known !== undefined) known.bytes += bytes;
  };
  network.on('Network.responseReceived', ({ requestId, response }) => add(requestId, response.encodedDataLength));
  network.on('Network.dataReceived', ({ requestId, encodedDataLength }) => add(requestId, encodedDataLength));
  return () => {
    const all = [...sent.values()];
    return {
      requests: all.length,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      paths: all.map(({ path }) => path),
    };
  };
}
