import type { Reporter } from 'vitest/node';
import { additionalFailures } from './closing-line-reporter.ts';
import { replayLines, replayServer } from './replay-server.ts';
import { testedBundles } from './tested-bundles.ts';

/**
 * After all tests, while their server still runs, replays every history that they made (I12), and makes every ruling in
 * them again. Failures are printed, count as failed tests and fail the run.
 */
export default class ReplayReporter implements Reporter {
  /** A folder for histories that do not replay; default as in `replayServer`. */
  readonly #keepIn: string | undefined;

  constructor({ keepIn }: { keepIn?: string } = {}) {
    this.#keepIn = keepIn;
  }

  async onTestRunEnd(): Promise<void> {
    const { TEMPORAL_ADDRESS: address, COUNTERSIGN_TEST_BUNDLE: codePath } = process.env;
    // Only the durable tests have a server.
    if (address === undefined || codePath === undefined) return;
    try {
      const report = await replayServer({ address, bundles: testedBundles(codePath), keepIn: this.#keepIn });
      process.stderr.write(`${replayLines(report).join('\n')}\n`);
      this.#fail(report.failed.length, 'histories that tests made do not replay');
      this.#fail(report.rulings.differing.length, 'rulings that tests made differ when made again');
    } catch (error) {
      this.#fail(1, error instanceof Error ? error.message : String(error));
    }
  }

  #fail(count: number, what: string): void {
    if (count === 0) return;
    process.stderr.write(`Failed: ${count} ${what}\n`);
    additionalFailures.count += count;
    process.exitCode = 1;
  }
}
