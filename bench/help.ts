/**
 * `npm run bench:help`: the time of the built `countersign --help`, compared to `node -e 0`, which does nothing. The two
 * alternate, so that both meet the same noise. `--pairs N`; `--json` prints only the numbers. Exits with 1 when the
 * budget is exceeded.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { showSpread, spreadOf } from './spread.ts';

/** As a multiple of the time that Node itself takes. */
const budget = 3;
const main = fileURLToPath(new URL('../dist/cli/dist/main.js', import.meta.url));

const { values } = parseArgs({ options: { pairs: { type: 'string', default: '60' }, json: { type: 'boolean' } } });
const pairs = Number(values.pairs);

const measured = { node: [] as number[], help: [] as number[] };
for (let pair = 0; pair < pairs; pair++) {
  measured.node.push(millisecondsOf(['-e', '0']));
  measured.help.push(millisecondsOf([main, '--help']));
}
const node = spreadOf(measured.node);
const help = spreadOf(measured.help);
const ratio = help.median / node.median;
if (values.json === true) console.log(JSON.stringify({ pairs, node, help, ratio, budget }, undefined, 2));
else {
  console.log('ms: least · median · p99 · most');
  console.log(`node -e 0           ${showSpread(node)}`);
  console.log(`countersign --help  ${showSpread(help)}`);
  console.log(`--help takes ${ratio.toFixed(2)} times as long as Node itself (at most ${budget}).`);
}
if (ratio > budget) process.exitCode = 1;

function millisecondsOf(words: readonly string[]): number {
  const startedAtMs = performance.now();
  execFileSync(process.execPath, words, { stdio: 'ignore' });
  return performance.now() - startedAtMs;
}
