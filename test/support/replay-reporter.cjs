/**
 * After all tests, while their server still runs, replays every history that they made (I12), and makes every ruling in
 * them again. Failures are printed, count as failed tests and fail the session.
 */
'use strict';

class ReplayReporter {
  constructor(_config, { keepIn } = {}) {
    this.keepIn = keepIn;
  }

  async onRunComplete(_contexts, results) {
    const { TEMPORAL_ADDRESS: address, COUNTERSIGN_TEST_BUNDLE: codePath } = process.env;
    // Only the durable tests have a server.
    if (address === undefined || codePath === undefined || results.wasInterrupted) return;
    try {
      const { replayLines, replayServer } = await import('./replay-server.ts');
      const { testedBundles } = await import('./tested-bundles.ts');
      const report = await replayServer({ address, bundles: testedBundles(codePath), keepIn: this.keepIn });
      process.stderr.write(`${replayLines(report).join('\n')}\n`);
      if (report.failed.length > 0)
        this.#fail(results, report.failed.length, 'histories that tests made do not replay');
      const { differing } = report.rulings;
      if (differing.length > 0) this.#fail(results, differing.length, 'rulings that tests made differ when made again');
    } catch (error) {
      process.stderr.write(`Histories: ${error.message}\n`);
      this.#fail(results, 1, error.message);
    }
  }

  #fail(results, count, message) {
    results.numFailedTests += count;
    this.error = new Error(message);
  }

  /** Jest fails the session when a reporter has an error. */
  getLastError() {
    return this.error;
  }
}

module.exports = ReplayReporter;
