/**
 * B4: what a ruling costs. 1,000 rules, compiled once; the same calls ruled on over and over. Beside it, in the same
 * process: JSON.parse of the same calls, and minimatch called for each rule without compiling, as a first version would.
 * Prints microseconds (least, median, 99 of 100, most) of several rounds, so that the machine's noise shows.
 */
import { minimatch } from 'minimatch';
import { parsePolicy } from '../src/core/parse-policy.ts';
import type { Policy } from '../src/core/policy.ts';
import { compilePolicy, evaluate, type CompiledLayers, type RuledCall } from '../src/core/ruling.ts';
import type { JsonObject } from '../src/core/tool-call.ts';

const rounds = 5;
const repeats = 2_000;
const actions = ['allow', 'ask', 'deny'] as const;

interface Work {
  name: string;
  rules: object[];
  calls: RuledCall[];
}

const call = (tool: string, args: JsonObject, subject?: string): RuledCall => ({
  tool,
  args,
  risk: 'write',
  ...(subject !== undefined && { subject }),
});
const thousand = <Item>(make: (index: number) => Item): Item[] =>
  Array.from({ length: 1_000 }, (_, index) => make(index));

const works: Work[] = [
  {
    name: '1,000 rules over 200 tools',
    rules: thousand((index) => ({
      pattern: index % 5 === 0 ? `tool_${index % 200}_*` : `tool_${index % 200}_x:*${index}*`,
      action: actions[index % 3]!,
    })),
    calls: [7, 60, 199].map((index) => call(`tool_${index}_x`, { path: `/srv/app/${index}`, force: true })),
  },
  {
    name: '1,000 rules for one tool, by its subject',
    rules: thousand((index) => ({ pattern: `bash:git ${index} *`, action: actions[index % 3]! })),
    calls: ['git 500 --all', 'rm -rf /', 'git status'].map((command) => call('bash', { command }, 'command')),
  },
  {
    name: '1,000 rules for any tool, by all arguments',
    rules: thousand((index) => ({ pattern: `*:*"id":"${index}"*`, action: actions[index % 3]! })),
    calls: [call('update', { id: '999', name: 'Ann', tags: ['a', 'b'] }), call('update', { id: 'x', on: true })],
  },
  {
    name: '1,000 rules, a condition in each tenth',
    rules: thousand((index) => ({
      pattern: `pay_${index % 50}`,
      action: actions[index % 3]!,
      ...(index % 10 === 0 && { when: `args.amount > ${index}` }),
    })),
    calls: [call('pay_10', { amount: 500, to: 'acme' }), call('pay_11', { amount: 5, to: 'acme' })],
  },
];

for (const { name, rules, calls } of works) {
  console.log(`\n${name}`);
  const loads: number[] = [];
  let policy: Policy | undefined;
  const document = JSON.stringify({ rules });
  for (let round = 0; round < rounds; round += 1) {
    const from = performance.now();
    const parsed = parsePolicy(JSON.parse(document) as object);
    if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems[0]));
    policy = parsed.policy;
    compilePolicy(policy, 'run');
    loads.push((performance.now() - from) * 1_000);
  }
  const layers: CompiledLayers = { run: compilePolicy(policy!, 'run') };
  const texts = calls.map((each) => JSON.stringify(each));
  const patterns = policy!.rules.map(({ pattern }) => pattern.split(':', 2) as [string, string?]);
  const naive = (each: RuledCall): void => {
    const text = each.subject === undefined ? JSON.stringify(each.args) : (each.args[each.subject] as string);
    for (const [tool, args] of patterns) if (minimatch(each.tool, tool) && args !== undefined) minimatch(text, args);
  };
  const ruling = measure(calls, repeats, (each) => evaluate(layers, each));
  const parse = measure(texts, repeats, (each) => JSON.parse(each) as unknown);
  show('load, from an object', loads);
  show('first ruling on a tool', measureFirst(policy!, calls));
  show('ruling', ruling);
  show('JSON.parse of the call', parse);
  show('minimatch, not compiled', measure(calls, 20, naive));
  const ratio = percentile(ruling, 0.99) / percentile(parse, 0.99);
  console.log(`  ruling p99 / JSON.parse p99: ${ratio.toFixed(1)} (budget 10)`);
}

/** Microseconds of each of many calls, taken in several rounds. */
function measure<Item>(items: readonly Item[], times: number, work: (item: Item) => unknown): number[] {
  const all: number[] = [];
  for (let index = 0; index < times / 2; index += 1) for (const item of items) work(item);
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < times; index += 1) {
      for (const item of items) {
        const from = performance.now();
        work(item);
        all.push((performance.now() - from) * 1_000);
      }
    }
  }
  return all;
}

function measureFirst(policy: Policy, calls: readonly RuledCall[]): number[] {
  return Array.from({ length: rounds * 4 }, (_, index) => {
    const layers = { run: compilePolicy(policy, 'run') };
    const from = performance.now();
    evaluate(layers, calls[index % calls.length]!);
    return (performance.now() - from) * 1_000;
  });
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

function show(name: string, values: readonly number[]): void {
  const numbers = [0, 0.5, 0.99, 1].map((part) => percentile(values, part).toFixed(1).padStart(9));
  console.log(`  ${name.padEnd(24)} µs: least, median, p99, most ${numbers.join(' ')}`);
}
