import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * No test knows how fast a machine is, what else runs there, nor where the checkout is. What it says instead: a count, an
 * order, a ratio inside one process (`support/processor-time.ts`), a condition that it awaits (`support/eventually.ts`),
 * or a deadline that it plays again when it was missed (`support/in-time.ts`). Figures live in `bench`.
 */

/** The calls of a function in a text: what it is called with, and what follows. */
function callsOf(name: string, text: string): { args: string; after: string }[] {
  return [...text.matchAll(new RegExp(`\\b${name}\\(`, 'g'))].map(({ index, 0: { length } }) => {
    const from = index + length;
    let at = from;
    for (let depth = 1; depth > 0 && at < text.length; at += 1) {
      if (text[at] === '(') depth += 1;
      else if (text[at] === ')') depth -= 1;
    }
    return { args: text.slice(from, at - 1), after: text.slice(at, at + 30) };
  });
}

/** What names a duration. */
const duration = /\w(?:Ms|Millis)\b|Date\.now\(\)/;

const rules: [why: string, isBroken: (text: string) => boolean][] = [
  ['a clock', (text) => /\bperformance\.now\(/.test(text)],
  [
    'processor time that is set against no other',
    (text) => /\bprocess\.(?:cpuUsage|threadCpuUsage|hrtime)\b|\bprocessorMs\b/.test(text),
  ],
  [
    'a bound on a time',
    (text) =>
      callsOf('expect', text).some(({ args, after }) => duration.test(args) && /^\s*\.toBeLessThan/.test(after)),
  ],
  [
    'a limit of its own, beside the one of eventually',
    (text) => callsOf('eventually', text).some(({ args }) => /,\s*[\d_]+,?\s*$/.test(args)),
  ],
  [
    'a race with a timer',
    (text) => callsOf(String.raw`Promise\.race`, text).some(({ args }) => /\b(?:sleep|setTimeout)\(/.test(args)),
  ],
  ['a limit of its own, beside the one in vitest.config.ts', (text) => /^ *\}, [\d_]{4,}\);$/m.test(text)],
  [
    'a limit of its own, beside the one of eventually',
    (text) => /\bexpect\.poll\(|\bAbortSignal\.timeout\((?!60_000\))/.test(text),
  ],
  [
    'a port that another process may have taken',
    (text) => /\bfreePort\(/.test(text) && !/\b(?:startOn|openGatewayWorld)\(/.test(text),
  ],
  [
    'a list of an inbox that other tests fill',
    (text) => /\bapprovals\.list\(\)/.test(text) && !/namespace|makeOwnInbox/i.test(text),
  ],
  ['a path as a URL spells it: %20 for a blank', (text) => /\bimport\.meta\.url\)\.pathname\b/.test(text)],
];

/** Helpers that need a clock to measure or to report, and tests of what the tests themselves measure. */
const allowed = new Set(
  ['processor-time', 'limit-processor-time', 'limit-processor-time.test', 'measured-runner', 'replay-server-main']
    .map((name) => `support/${name}.ts`)
    .concat('foreign-text/measure.ts', 'e2e/inbox/first-view.ts', 'no-absolute-time.test.ts'),
);

/** Tests that may, each for a reason. */
const excused: Readonly<Record<string, string>> = {
  'adapters/slack/updates.test.ts': 'compares two waits in one process',
  'workflows/agent/forged-failures.test.ts': 'waits for what must not come',
  'channels/console-channel.test.ts': 'waits for what must not come',
  'adapters/webhook/channel.test.ts': 'gives up on what never comes',
  'e2e/recovery/time-skipping-server.ts': 'asks whether a download can work',
  'adapters/http/fuzz.test.ts': 'plays until it is stopped',
  'e2e/recovery/chaos.test.ts': 'plays until it is stopped',
};

/** What a file says of the speed of a machine. */
function problemsIn(text: string): string[] {
  return rules.filter(([, isBroken]) => isBroken(text)).map(([why]) => why);
}

describe('no test knows how fast a machine is', () => {
  test.each([
    ['const startedMs = performance.now();', 'a clock'],
    ['const took = processorMs(work);', 'processor time that is set against no other'],
    ['const before = process.cpuUsage();', 'processor time that is set against no other'],
    ['expect(answeredMs).toBeLessThan(3_000);', 'a bound on a time'],
    ['expect(Date.now() - started).toBeLessThanOrEqual(most);', 'a bound on a time'],
    ["await eventually('a line', () => lines.length > 0, 30_000);", 'a limit of its own, beside the one of eventually'],
    [
      "await eventually(\n  'a line',\n  async () => {\n    return lines.length > 0;\n  },\n  60_000,\n);",
      'a limit of its own, beside the one of eventually',
    ],
    ["await Promise.race([ended, sleep(20_000, 'still runs')]);", 'a race with a timer'],
    ['test(name, () => {\n  run();\n}, 120_000);', 'a limit of its own, beside the one in vitest.config.ts'],
    ['await expect.poll(look, { timeout: 60_000 }).toBe(true);', 'a limit of its own, beside the one of eventually'],
    ['await fetch(url, { signal: AbortSignal.timeout(5_000) });', 'a limit of its own, beside the one of eventually'],
    [
      'const port = await freePort();\nawait startGateway({ client, port });',
      'a port that another process may have taken',
    ],
    ['const { approvals } = await client.approvals.list();', 'a list of an inbox that other tests fill'],
  ])('refused: %s', (text, why) => expect(problemsIn(text)).toEqual([why]));

  test.each([
    'expect(calls.length).toBeLessThan(3_000);',
    'expect(growth(timed, 25_000)).toBeLessThan(squareGrowth);',
    "await eventually('a line', () => lines.length > 0);",
    'const until = new Date(Date.now() + 3_600_000).toISOString();',
    'expect(statSync(place).mtimeMs).toBeGreaterThan(0);',
    'notify(request, { signal: AbortSignal.timeout(60_000) });',
    'const port = await freePort();\nawait startOn(port, () => startGateway({ client, port }));',
    'const { approvals } = await client.approvals.list({ workflowId });',
  ])('accepted: %s', (text) => expect(problemsIn(text)).toEqual([]));

  const files = globSync('**/*.{ts,tsx}', { cwd: import.meta.dirname, exclude: ['chaos/**', 'fixtures/**'] });
  const found = files
    .filter((file) => !allowed.has(file))
    .map((file) => [file, problemsIn(readFileSync(join(import.meta.dirname, file), 'utf8'))] as const)
    .filter(([, problems]) => problems.length > 0);

  test('in any file', () => expect(found.filter(([file]) => !(file in excused))).toEqual([]));

  test('no excuse is left over', () => {
    const names = new Set(found.map(([file]) => file));
    expect(Object.keys(excused).filter((file) => !names.has(file))).toEqual([]);
  });
});
