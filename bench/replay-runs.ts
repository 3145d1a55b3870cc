import { fileURLToPath } from 'node:url';
import { modulePath } from '../src/connection/module-path.ts';
import { replayLines, replayServer } from '../test/support/replay-server.ts';

/**
 * Replays all runs of a benchmark before it reports: measurements of runs that do not replay are worthless (I12).
 * Throws if a run does not replay. `codePaths`: bundles that the benchmark's workers read from files.
 */
export async function replayRuns(address: string, codePaths: readonly string[] = []): Promise<void> {
  const report = await replayServer({
    address,
    bundles: [
      ...codePaths.map((codePath) => ({ codePath })),
      { workflowsPath: modulePath('workflows/index') },
      { workflowsPath: fileURLToPath(new URL('./bare-workflows.ts', import.meta.url)), plugins: 'none' },
    ],
  });
  process.stderr.write(`${replayLines(report).join('\n')}\n`);
  if (report.failed.length > 0) throw new Error(`${report.failed.length} histories do not replay`);
}
