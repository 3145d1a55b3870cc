/**
 * `npm run countersign` and `npm run demo`: `node tools/start.ts PROGRAM WORDS` runs a program of this clone. If it starts a
 * Temporal server, that server is built first where none is installed and none can be downloaded.
 */
import 'countersign/require-node';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [program, ...words] = process.argv.slice(2);
const startsServer = program!.endsWith('/demo/main.ts') || words[0] === 'server' || words[0] === 'dev';
const asksForHelp = words.includes('--help') || words.includes('-h');
if (startsServer && !asksForHelp) await prepareServer();
// The program finds its own words.
const path = resolve(program!);
process.argv.splice(1, 2, path);
await import(pathToFileURL(path).href);

async function prepareServer(): Promise<void> {
  const { temporalOfClone } = await import('./temporal/temporal-of-clone.ts');
  try {
    await temporalOfClone({ log: (line) => process.stderr.write(`${line}\n`) });
  } catch (error) {
    const { reportError } = await import('../packages/cli/src/base/output.ts');
    process.exit(reportError(error, { json: words.includes('--json'), debug: words.includes('--debug') }));
  }
}
