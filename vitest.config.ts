import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.ts';

/** Folders of `test` whose tests need the real Temporal server; one is started for all of them. */
const durableFolders = ['workflows', 'client', 'connection', 'adapters', 'dev-server', 'e2e', 'channels', 'examples'];

export default defineConfig({
  test: {
    // Node loads sources and tests itself, and a process keeps what it has loaded for the files that it runs next. To
    // load the SDK again for each file took more processor time than many files' tests.
    pool: 'forks',
    isolate: false,
    experimental: { viteModuleRunner: false },
    // More than the two cores that CI has: many files wait for timers and for the server.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    runner: './test/support/measured-runner.ts',
    reporters: [
      'default',
      './test/support/replay-reporter.ts',
      './test/support/costs-reporter.ts',
      './test/support/closing-line-reporter.ts',
    ],
    restoreMocks: true,
    slowTestThreshold: 10_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: [`test/{${durableFolders.join(',')}}/**`],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'durable',
          include: durableFolders.map((folder) => `test/${folder}/**/*.test.ts`),
          globalSetup: './test/support/global-setup.ts',
          setupFiles: './test/support/reused-workflow-threads.ts',
          // Tests with a real server wait for conditions; how long they wait is not part of what they verify. Beside
          // other work, or without a cache (`npm run test:zero-cache`), a condition may take minutes.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
