/**
 * Prints `N passed, N failed` (plus `, N skipped` if any) as the very last line of a run. The line is written when the
 * process exits, so no output of a teardown can follow it. A test file that failed to load counts as one failure.
 */
'use strict';

const { writeSync } = require('node:fs');

const standardOutput = 1;

class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    process.once('exit', () => {
      writeSync(standardOutput, `${line}\n`);
    });
  }
}

module.exports = ClosingLineReporter;
