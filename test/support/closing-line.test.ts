import { describe, expect, test } from 'vitest';
import { closingLine, type Counted, countTests, skippedLines } from './closing-line.ts';

interface File {
  /** The state of each test. */
  tests?: string[];
  /** Errors of a test file outside of its tests: it does not load, or a hook fails. */
  errors?: number;
  hookErrors?: number;
}

const list = (length = 0): unknown[] => Array.from({ length }, () => new Error('x'));

function moduleOf({ tests = [], errors, hookErrors }: File): Counted {
  return {
    moduleId: `${process.cwd()}/test/sample.test.ts`,
    errors: () => list(errors),
    children: {
      allTests: () => tests.map((state) => ({ fullName: 'pages (needs Chromium) > opens', result: () => ({ state }) })),
      allSuites: () => [{ errors: () => list(hookErrors) }],
    },
  } as Counted;
}

const passed = (count: number): string[] => Array.from({ length: count }, () => 'passed');

describe('the closing line', () => {
  test.each<[File[], number, string]>([
    [[{ tests: passed(12) }], 0, '12 passed, 0 failed'],
    [[{ tests: [...passed(3), 'failed'] }, { tests: ['failed'] }], 0, '3 passed, 2 failed'],
    [[{ tests: [...passed(3), 'failed'] }, { errors: 1 }, { hookErrors: 2 }], 0, '3 passed, 3 failed'],
    [[{ tests: [...passed(3), 'skipped', 'pending'] }], 0, '3 passed, 0 failed, 2 skipped'],
    [[{ tests: passed(1) }], 5, '1 passed, 5 failed'],
  ])('of %j with %i other failures is "%s"', (files, others, line) => {
    expect(closingLine(countTests(files.map(moduleOf), others))).toBe(line);
  });
});

test('tests that do not run are listed with what they need', () => {
  expect(skippedLines([moduleOf({ tests: ['passed', 'skipped', 'pending'] }), moduleOf({ tests: passed(2) })])).toEqual(
    ['skipped 2: test/sample.test.ts > pages (needs Chromium)'],
  );
});
