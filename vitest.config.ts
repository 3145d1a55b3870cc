import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { chosenTier, filesOf, type Project, projects } from './test/support/tiers.ts';

const cores = availableParallelism();
/** Half of them wait for timers and for the server; more would only make each wait longer. */
const workers = Math.max(2, Math.min(6, Math.ceil(cores * 1.5)));
/** Pure tests keep a core busy. Files with processes of their own bring their load. Browser files share one Chromium. */
const maxWorkers: Record<Project, number> = { pure: cores, durable: workers, processes: 2, browser: 1 };

const files = filesOf(chosenTier());

export default defineConfig({
  test: {
    // Node loads sources and tests itself, and a process keeps what it has loaded for the files that it runs next. To
    // load the SDK again for each file took more processor time than many files' tests.
    pool: 'forks',
    isolate: false,
    experimental: { viteModuleRunner: false },
    runner: './test/support/measured-runner.ts',
    restoreMocks: true,
    // Tests wait for conditions; how long they wait is not part of what they verify. Beside other work, on a slow machine,
    // or without a cache (`npm run test:zero-cache`), a condition may take minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    slowTestThreshold: 10_000,
    teardownTimeout: 120_000,
    projects: projects
      .map((name, groupOrder) => ({
        extends: true as const,
        test: {
          name,
          include: files[name],
          maxWorkers: maxWorkers[name],
          // One project after another: what is sensitive to load does not run beside what makes most of it.
          sequence: { groupOrder },
          ...(name !== 'pure' && {
            globalSetup: './test/support/global-setup.ts',
            setupFiles: './test/support/reused-workflow-threads.ts',
          }),
        },
      }))
      .filter(({ test: { include } }) => include.length > 0),
  },
});
