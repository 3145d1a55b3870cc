/**
 * A process that tries mutants, one after another. For each mutant it loads the project's modules and tests again, with
 * the mutant's file changed in memory, so that no state of one mutant reaches the next. Packages are loaded only once.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { takeTests, type KeptTest } from './vitest-stand-in.ts';
import type { Mutant } from './mutants.ts';
import { repository, rulingTests } from './ruling-files.ts';

export interface Trial {
  /** Null: the unchanged project, on which every test must pass. */
  mutant: Mutant | null;
  /** Names of tests to run first, in order; the others follow in their own order. */
  first: readonly string[];
}

export interface Verdict {
  /** The first failing test, or `load` if a file cannot be loaded; null if the mutant survives. */
  killedBy: string | null;
  /** The durations of the tests that ran. */
  durationsMs: Record<string, number>;
  /** Why the first test failed. */
  why?: string;
}

const root = pathToFileURL(`${repository}/`).href;
const standIns = new Map(
  Object.entries({ vitest: 'vitest-stand-in.ts', 'fast-check': 'fast-check-stand-in.ts' }).map(([name, file]) => [
    name,
    pathToFileURL(join(import.meta.dirname, file)).href,
  ]),
);
const generation = /\?generation=\d+$/;
const sources = new Map<string, string>();
let current: Mutant | null = null;
let count = 0;

registerHooks({
  resolve(specifier, context, next) {
    const [mark] = generation.exec(context.parentURL ?? '') ?? [];
    if (mark === undefined) return next(specifier, context);
    const standIn = standIns.get(specifier);
    if (standIn !== undefined) return { url: standIn, shortCircuit: true };
    const found = next(specifier, context);
    const ours = found.url.startsWith(root) && found.url.endsWith('.ts') && !found.url.includes('/node_modules/');
    return ours ? { ...found, url: found.url + mark } : found;
  },
  load(url, context, next) {
    if (!generation.test(url)) return next(url, context);
    return { format: 'module', source: sourceOf(fileURLToPath(url.replace(generation, ''))), shortCircuit: true };
  },
});

function sourceOf(path: string): string {
  if (current !== null && path === join(repository, current.file)) {
    const text = readFileSync(path, 'utf8');
    return stripTypeScriptTypes(text.slice(0, current.from) + current.replacement + text.slice(current.to));
  }
  const known = sources.get(path) ?? stripTypeScriptTypes(readFileSync(path, 'utf8'));
  sources.set(path, known);
  return known;
}

async function judge({ mutant, first }: Trial): Promise<Verdict> {
  current = mutant;
  count += 1;
  const tests: KeptTest[] = [];
  try {
    takeTests();
    for (const name of rulingTests) {
      await import(`${pathToFileURL(join(repository, `test/${name}.test.ts`)).href}?generation=${count}`);
      tests.push(...takeTests().map((each) => ({ ...each, name: `${name}: ${each.name}` })));
    }
  } catch (error) {
    return { killedBy: 'load', durationsMs: {}, why: String(error) };
  }
  const rank = new Map(first.map((name, index) => [name, index]));
  const rankOf = ({ name }: KeptTest): number => rank.get(name) ?? first.length;
  const durationsMs: Record<string, number> = {};
  for (const { name, run } of tests.toSorted((one, other) => rankOf(one) - rankOf(other))) {
    const before = performance.now();
    try {
      await run();
      durationsMs[name] = performance.now() - before;
    } catch (error) {
      return { killedBy: name, durationsMs, why: String(error) };
    }
  }
  return { killedBy: null, durationsMs };
}

process.on('message', (trial: Trial) => {
  void judge(trial).then((verdict) => process.send!(verdict));
});
process.on('disconnect', () => process.exit());
