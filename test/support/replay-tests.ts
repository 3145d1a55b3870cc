import { replayLines, replayServer } from './replay-server.ts';
import { testedBundles } from './tested-bundles.ts';

/**
 * Replays every history that the tests made (I12), and makes every ruling in them again, while their server still runs.
 * Prints what it found, and returns how many histories and rulings failed. `keepIn` is a folder for histories that do not
 * replay; default as in `replayServer`.
 */
export async function replayTests(keepIn?: string): Promise<number> {
  // Only tests that need a server have one.
  const { TEMPORAL_ADDRESS: address, COUNTERSIGN_TEST_BUNDLE: codePath } = process.env;
  if (address === undefined || codePath === undefined) return 0;
  try {
    const report = await replayServer({ address, bundles: testedBundles(codePath), keepIn });
    process.stderr.write(`${replayLines(report).join('\n')}\n`);
    return (
      printed(report.failed.length, 'histories that tests made do not replay') +
      printed(report.rulings.differing.length, 'rulings that tests made differ when made again')
    );
  } catch (error) {
    return printed(1, error instanceof Error ? error.message : String(error));
  }
}

function printed(count: number, what: string): number {
  if (count > 0) process.stderr.write(`Failed: ${count} ${what}\n`);
  return count;
}
