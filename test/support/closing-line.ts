import { relative } from 'node:path';
import type { TestModule } from 'vitest/node';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The parts of a test file's result that are counted. */
export type Counted = Pick<TestModule, 'moduleId' | 'errors'> & {
  children: {
    allTests: () => Iterable<{ fullName: string; result: () => { state: string; note?: string | undefined } }>;
    allSuites: () => Iterable<{ errors: () => readonly unknown[] }>;
  };
};

/**
 * Counts the tests of `modules`. A test file that failed outside of its tests counts as one failure, and so does each of
 * the `others`: errors that no test caught, and what was checked after the tests.
 */
export function countTests(modules: Iterable<Counted>, others = 0): Counts {
  const counts = { passed: 0, failed: others, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed' || state === 'failed') counts[state] += 1;
      else counts.skipped += 1;
    }
    if (module.errors().length > 0) counts.failed += 1;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
  }
  return counts;
}

/** `N passed, N failed`, and `, N skipped` if any. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A line for each group of tests that did not run: how many, and the name of the group, which says what it needs. */
export function skippedLines(modules: Iterable<Counted>): string[] {
  const counts = new Map<string, number>();
  for (const { moduleId, children } of modules) {
    for (const test of children.allTests()) {
      const { state, note } = test.result();
      if (state === 'passed' || state === 'failed') continue;
      const group = note ?? test.fullName.split(' > ')[0]!;
      const line = `${relative('.', moduleId)} > ${group}`;
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
  }
  return [...counts].map(([line, count]) => `skipped ${count}: ${line}`);
}
