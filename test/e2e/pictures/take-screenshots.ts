/**
 * `npm run screenshots`: takes pictures of cards on each channel, of the web inbox, and of a waiting run in Temporal's
 * UI, and writes them to `docs/images/`. `npm run screenshots -- cards` takes only those of the
 * cards, `-- inbox` only those of the inbox.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { findChromium, openBrowser } from '../../support/browser.ts';
import { takeInboxPictures } from './take-inbox-pictures.ts';
import { takeCardPictures } from './take-card-pictures.ts';
import { readWaitingRunPages } from '../operators/waiting-run-pages.ts';

const chromium = findChromium();
if (chromium === undefined) {
  process.stderr.write('No Chromium here: install it (Debian: `apt-get install chromium`) and try again.\n');
  process.exitCode = 1;
} else {
  const pictures = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
  mkdirSync(pictures, { recursive: true });
  const asked = (part: string): boolean => process.argv.length <= 2 || process.argv.includes(part);
  if (asked('cards')) await takeCardPictures({ chromium, pictures });
  if (asked('inbox')) await takeInboxPictures({ chromium, pictures });
  if (asked('others')) await takeTemporalPictures(chromium, pictures);
  process.stdout.write(`The pictures are in ${pictures}\n`);
}

async function takeTemporalPictures(chromium: string, pictures: string): Promise<void> {
  const server = await startDevServer();
  const browser = await openBrowser(chromium);
  const { address, namespace } = server;
  await readWaitingRunPages({ address, namespace, uiUrl: server.uiUrl!, context: browser.context, pictures });
  await browser.close();
  await server.stop();
}
