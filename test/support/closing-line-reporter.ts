import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const standardOutput = 1;

/**
 * Prints `N passed, N failed` (plus `, N skipped` if any) as the very last line of a run. The line is written when the
 * process exits, so no output of a teardown can follow it. A test file that failed outside of its tests counts as one
 * failure, and so does each error that no test caught.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length + additionalFailures.count, skipped: 0 };
    for (const module of testModules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'skipped' : state] += 1;
      }
      if (module.errors().length > 0) counts.failed += 1;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
    }
    const line = closingLine(counts);
    process.once('exit', () => {
      writeSync(standardOutput, `${line}\n`);
    });
  }
}

/** Failures that a reporter found outside of the tests. */
export const additionalFailures = { count: 0 };

export function closingLine({ passed, failed, skipped }: { passed: number; failed: number; skipped: number }): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
