/**
 * Test files that fail by chance run once more, alone, when all others have ended. A test that passes only then is a debt:
 * it is printed before the closing line and kept in a file that Git ignores. `npm run test:debts` prints that file.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestModule } from 'vitest/node';
import { found, lawFiles } from './tiers.ts';

/** More failures than these are no chance. */
const mostFiles = 5;
/** Another seed would hide a counterexample, and a history that does not replay is never a chance. */
const random = new Set([
  ...found(['workflows/replay/*', 'e2e/recovery/chaos', 'workflows/agent/session-room', 'client/find-due']),
  ...found(['adapters/cli/table']),
  ...lawFiles(),
]);

/** The parts of a test file's result that say whether it runs once more. */
export type Tried = Pick<TestModule, 'moduleId' | 'ok'> & { project: { name: string } };

/** The files of a run that run once more: none if one of its failures is not one by chance. */
export function filesToTryAgain<File extends Tried>(
  modules: readonly File[],
  unhandledErrors: readonly unknown[],
): File[] {
  const failed = modules.filter((module) => !module.ok());
  const isChance = unhandledErrors.length === 0 && failed.length <= mostFiles && failed.every(mayFailByChance);
  return isChance ? failed : [];
}

/** Pure tests and laws have no clock and no server: they fail for a reason. */
function mayFailByChance({ project, moduleId }: Tried): boolean {
  return project.name !== 'pure' && !random.has(relative('.', moduleId));
}

/** `FILE > TEST` for each test of a file that failed. */
export function failedTests(module: TestModule): string[] {
  const file = relative('.', module.moduleId);
  const names = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
  return (names.length > 0 ? names : ['(outside its tests)']).map((name) => `${file} > ${name}`);
}

const debtsFile = join('test', 'second-tries.log');

/** Keeps the tests that passed at the second try, with the day. */
export function keepDebts(tests: readonly string[]): void {
  const day = new Date().toISOString().slice(0, 10);
  appendFileSync(debtsFile, tests.map((test) => `${day} ${test}\n`).join(''));
}

/** The kept tests with how often each was kept, the most frequent first. */
export function debtLines(): string[] {
  const lines = existsSync(debtsFile) ? readFileSync(debtsFile, 'utf8').split('\n').filter(Boolean) : [];
  const days = Map.groupBy(lines, (line) => line.slice(11));
  return [...days]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([test, seen]) => `${seen.length} times, last on ${seen.at(-1)!.slice(0, 10)}: ${test}`);
}
