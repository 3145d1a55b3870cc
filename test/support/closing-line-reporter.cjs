/**
 * Prints `N passed, N failed` (and `, N skipped` where there are any) as the very last line of a run: it is written
 * when the process exits, so that nothing a teardown says can come after it. A test file that did not even load
 * counts as one failure.
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
