/**
 * Runs tests with Vitest. `npm test` runs the gate, `COUNTERSIGN_TEST_TIER` names another tier (tiers.ts), and with words
 * after it `npm test --` runs all files whose path has one. Then it replays every history that the tests made. Its last
 * line is `N passed, N failed`.
 */
import { writeSync } from 'node:fs';
import { createVitest, parseCLI, type TestModule, TestsNotFoundError } from 'vitest/node';
import { closingLine, countTests, skippedLines } from './closing-line.ts';
import { costLines } from './costs.ts';
import { replayTests } from './replay-tests.ts';
import { failedTests, filesToTryAgain, keepDebts } from './second-try.ts';
import { chosenTier } from './tiers.ts';

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
process.env.COUNTERSIGN_TEST_TIER ??= filter.length > 0 ? 'all' : 'gate';
process.env.COUNTERSIGN_TEST_THOROUGH ??= chosenTier() === 'gate' ? '0.25' : '1';
Object.assign(process.env, { TEST: 'true', VITEST: 'true', NODE_ENV: process.env.NODE_ENV ?? 'test' });

const vitest = await createVitest({ ...options, watch: false });
try {
  const { testModules, unhandledErrors } = await vitest.start(filter);
  const modules = new Map(testModules.map((module) => [keyOf(module), module]));
  let others = unhandledErrors.length;
  // A developer who names a file wants to see it fail.
  const again = filter.length > 0 ? [] : filesToTryAgain(testModules, unhandledErrors);
  const passedLate: string[] = [];
  // Set again by what fails now.
  if (again.length > 0) process.exitCode = 0;
  for (const project of vitest.projects) project.config.maxWorkers = 1;
  for (const module of again) {
    const failed = failedTests(module);
    process.stderr.write(`A second try, alone: ${module.relativeModuleId}\n`);
    // The whole file, in a process of its own: tests of a file build on one another.
    const second = await vitest.runTestSpecifications([module.toTestSpecification()]);
    others += second.unhandledErrors.length;
    const now = second.testModules.find((each) => keyOf(each) === keyOf(module))!;
    modules.set(keyOf(module), now);
    if (now.ok()) passedLate.push(...failed);
  }
  const failures = await replayTests();
  if (failures > 0) process.exitCode = 1;
  const lines = [...costLines([...modules.values()]), ...skippedLines(modules.values())];
  if (passedLate.length > 0) keepDebts(passedLate);
  lines.push(...passedLate.map((test) => `passed at the second try: ${test}`));
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  const line = closingLine(countTests(modules.values(), others + failures));
  // At the exit, so that no output of a teardown can follow it.
  process.once('exit', () => writeSync(process.stdout.fd, `${line}\n`));
} catch (error) {
  // Vitest has said so.
  if (!(error instanceof TestsNotFoundError)) throw error;
} finally {
  await vitest.exit();
}

function keyOf({ project, moduleId }: TestModule): string {
  return `${project.name} ${moduleId}`;
}
