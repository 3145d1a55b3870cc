import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const reporter = join(import.meta.dirname, 'closing-line-reporter.cjs');

/** The output of a run that reports `results` and whose teardown prints afterwards. */
function output(results: object): string {
  const program = `
    const Reporter = require(${JSON.stringify(reporter)});
    new Reporter().onRunComplete(new Set(), ${JSON.stringify(results)});
    console.error('teardown says something');
    console.log('and something else');
  `;
  const { stdout } = spawnSync('/bin/sh', ['-c', `"$0" --eval "$1" 2>&1`, process.execPath, program], {
    encoding: 'utf8',
  });
  return stdout;
}

describe('the closing line', () => {
  const nothing = {
    numPassedTests: 0,
    numFailedTests: 0,
    numRuntimeErrorTestSuites: 0,
    numPendingTests: 0,
    numTodoTests: 0,
  };

  test.each([
    [{ numPassedTests: 12 }, '12 passed, 0 failed'],
    [{ numPassedTests: 3, numFailedTests: 2 }, '3 passed, 2 failed'],
    [{ numPassedTests: 3, numFailedTests: 1, numRuntimeErrorTestSuites: 2 }, '3 passed, 3 failed'],
    [{ numPassedTests: 3, numPendingTests: 1, numTodoTests: 1 }, '3 passed, 0 failed, 2 skipped'],
  ])('of %j is "%s" and comes last', (results, line) => {
    expect(output({ ...nothing, ...results })).toBe(`teardown says something\nand something else\n${line}\n`);
  });
});
