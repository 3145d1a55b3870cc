/**
 * `npm run bench:first-view`: the time from the address to the first view of the inbox with its requests, in Chromium with
 * an empty cache and "slow 4G" as Lighthouse defines it: 150 ms per round trip, 1.6 Mbit/s down, 0.75 Mbit/s up. Times are
 * medians. `--times N`; `--json` prints only the numbers. Exits with 1 when the budget is exceeded.
 */
import { parseArgs } from 'node:util';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';
import { findChromium, openBrowser } from '../test/support/browser.ts';
import { firstView } from '../test/e2e/inbox/first-view.ts';
import { openInboxStage } from '../test/e2e/inbox/inbox-stage.ts';
import { showSpread, spreadOf } from './spread.ts';

/** Until something is on the screen, in milliseconds. */
const budgetMs = 1_000;

const { values } = parseArgs({ options: { times: { type: 'string', default: '7' }, json: { type: 'boolean' } } });
const times = Number(values.times);
const chromium = findChromium();
if (chromium === undefined) throw new Error('No Chromium here: install it (Debian: `apt-get install chromium`).');

const server = await startDevServer({ uiPort: null });
const stage = await openInboxStage({ address: server.address });
const views = [];
for (let time = 0; time < times; time++) {
  // A new profile, so that nothing is cached.
  const browser = await openBrowser(chromium);
  views.push(await firstView(browser.context, `${stage.gateway.url}/inbox/`, { isSlow: true }));
  await browser.close();
}
await stage.close();
await server.stop();

const painted = spreadOf(views.map(({ paintedMs }) => paintedMs));
const listed = spreadOf(views.map(({ listedMs }) => listedMs));
const [{ requests, bytes }] = views as [(typeof views)[number]];
if (values.json === true)
  console.log(JSON.stringify({ times, requests, bytes, painted, listed, budgetMs }, undefined, 2));
else {
  console.log(`${requests} requests and ${bytes} bytes until the requests are listed`);
  console.log('ms: least · median · p99 · most');
  console.log(`first view     ${showSpread(painted)}`);
  console.log(`requests shown ${showSpread(listed)}`);
  console.log(`The first view is there after ${Math.round(painted.median)} ms (at most ${budgetMs}).`);
}
if (painted.median > budgetMs) process.exitCode = 1;
