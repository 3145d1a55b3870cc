/**
 * `npm run bench:policy`: the cost of a ruling (B4). Every engine gets the same 1,000 rules and the same calls, and
 * their answers must agree before anything is timed. One JSON.parse of the call is measured too: the budget is a
 * multiple of it. `--json` prints only the numbers, `--plot` also draws them into docs/images/bench-policy.svg.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { stringify } from 'yaml';
import { checkAgreement } from './agreement.ts';
import { countersign, loadPolicy, naive, policyDocument } from './engines.ts';
import { hostileMs } from './hostile.ts';
import { measure, timesOf, type Measured, type Times } from './measure.ts';
import { otherEngines } from './other-engines.ts';
import { drawTimes } from './plot.ts';
import { works } from './works.ts';

const parse = 'JSON.parse of the call';
const budget = { times: 10, loadMs: 100, hostileMs: 50 };
const loads = 9;

export interface WorkTimes {
  work: string;
  times: Map<string, Measured>;
  loadTimes: Map<string, Times>;
  /** The load times of countersign, from the policy's YAML text. */
  textLoadTimes: Times;
}

const json = process.argv.includes('--json');
const others = await otherEngines();
if (typeof others === 'string') process.stderr.write(`${others}\n`);
const engines = [countersign, ...(typeof others === 'string' ? [] : others), naive];

const measured = works.map((work): WorkTimes => {
  checkAgreement(work, engines);
  if (!json) process.stderr.write(`${work.name}…\n`);
  const pieces = new Map<string, (() => unknown)[]>();
  const texts = work.timed.map((call) => JSON.stringify(call));
  pieces.set(
    parse,
    texts.map((text) => () => JSON.parse(text) as unknown),
  );
  for (const engine of engines) {
    const rule = engine.load(work.rules);
    pieces.set(
      engine.name,
      work.timed.map((call) => () => rule(call)),
    );
  }
  const text = stringify(policyDocument(work.rules));
  return {
    work: work.name,
    times: measure(pieces),
    loadTimes: new Map(engines.map((engine) => [engine.name, loadTimes(() => engine.load(work.rules))])),
    textLoadTimes: loadTimes(() => loadPolicy(text)),
  };
});
const hostile = hostileMs();

if (json) {
  const plain = measured.map(({ work, times, loadTimes, textLoadTimes }) => ({
    work,
    rulingUs: Object.fromEntries(times),
    loadUs: Object.fromEntries(loadTimes),
    loadFromTextUs: textLoadTimes,
  }));
  console.log(JSON.stringify({ works: plain, hostileMs: hostile }, undefined, 2));
} else {
  for (const each of measured) print(each);
  console.log(`A hostile pattern and an argument of 1 MB: ${hostile.toFixed(1)} ms (budget ${budget.hostileMs})`);
}
if (process.argv.includes('--plot')) {
  const file = fileURLToPath(new URL('../../docs/images/bench-policy.svg', import.meta.url));
  writeFileSync(file, drawTimes(measured, { measure: parse, own: countersign.name, budget: budget.times }));
  process.stderr.write(`The picture is ${file}\n`);
}

function loadTimes(load: () => unknown): Times {
  const values = Array.from({ length: loads }, () => {
    const from = performance.now();
    load();
    return (performance.now() - from) * 1_000;
  });
  return timesOf(values);
}

function print({ work, times, loadTimes: loaded, textLoadTimes: text }: WorkTimes): void {
  const head = ['µs for one ruling', 'least', 'median', 'p99', 'most', 'runs', 'load, ms: least', 'median', 'most'];
  const colAligns = head.map((_, index) => (index === 0 ? 'left' : 'right'));
  const table = new Table({ head, colAligns, style: { head: [], border: [] } });
  for (const [name, { least, median, p99, most, runs }] of times) {
    const load = loaded.get(name);
    const loadMs = load === undefined ? ['', '', ''] : [load.least, load.median, load.most].map((each) => each / 1_000);
    table.push([name, ...[least, median, p99, most].map(short), runs, ...loadMs.map(short)]);
  }
  console.log(`\n${work}\n${table.toString()}`);
  const { rounds } = times.get(countersign.name)!;
  const ratio = timesOf(rounds.map(({ p99 }, index) => p99 / times.get(parse)!.rounds[index]!.p99));
  console.log(
    `ruling p99 / JSON.parse p99, by ${rounds.length} rounds: least ${short(ratio.least)}, median ${short(ratio.median)}, ` +
      `most ${short(ratio.most)} (budget ${budget.times})\n` +
      `load from YAML, ms: least ${short(text.least / 1_000)}, median ${short(text.median / 1_000)}, ` +
      `most ${short(text.most / 1_000)} (budget ${budget.loadMs})`,
  );
}

function short(value: number | string): string {
  return typeof value === 'string' ? value : value.toFixed(value < 100 ? 1 : 0);
}
