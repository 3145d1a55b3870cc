import type { Reporter, TestModule } from 'vitest/node';
import { additionalFailures } from './closing-line-reporter.ts';
import { replayLines, startReplay } from './replay-server.ts';
import { testedBundles } from './tested-bundles.ts';

type Replay = ReturnType<typeof startReplay>;

/**
 * Replays every history that the tests made (I12), and makes every ruling in them again: those of closed runs while other
 * tests wait, the rest after all tests, while their server still runs. Failures are printed, count as failed tests and fail
 * the run.
 */
export default class ReplayReporter implements Reporter {
  /** A folder for histories that do not replay; default as in `replayServer`. */
  readonly #keepIn: string | undefined;
  #replay: Replay | undefined;

  constructor({ keepIn }: { keepIn?: string } = {}) {
    this.#keepIn = keepIn;
  }

  onTestModuleStart({ project }: TestModule): void {
    if (project.name === 'durable') this.#replay ??= this.#start();
  }

  async onTestRunEnd(): Promise<void> {
    // Only the durable tests have a server.
    const { COUNTERSIGN_TEST_BUNDLE: codePath } = process.env;
    if (codePath === undefined) return;
    this.#replay ??= this.#start();
    try {
      const report = await this.#replay.finish(testedBundles(codePath));
      process.stderr.write(`${replayLines(report).join('\n')}\n`);
      this.#fail(report.failed.length, 'histories that tests made do not replay');
      this.#fail(report.rulings.differing.length, 'rulings that tests made differ when made again');
    } catch (error) {
      this.#fail(1, error instanceof Error ? error.message : String(error));
    }
  }

  #start(): Replay {
    const { TEMPORAL_ADDRESS: address, COUNTERSIGN_TEST_BUNDLE: codePath } = process.env;
    return startReplay({ address: address!, early: { codePath: codePath! }, keepIn: this.#keepIn });
  }

  #fail(count: number, what: string): void {
    if (count === 0) return;
    process.stderr.write(`Failed: ${count} ${what}\n`);
    additionalFailures.count += count;
    process.exitCode = 1;
  }
}
