import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

const reporter = pathToFileURL(join(import.meta.dirname, 'closing-line-reporter.ts')).href;

type State = 'passed' | 'failed' | 'skipped' | 'pending';
interface File {
  tests?: State[];
  /** Errors of a test file outside of its tests: it does not load, or a hook fails. */
  errors?: number;
  hookErrors?: number;
}

/** The output of a run that reports `files` and whose teardown prints afterwards. */
function output(files: File[], unhandled: number, additional: number): string {
  const program = `
    const { default: Reporter, additionalFailures } = await import(${JSON.stringify(reporter)});
    const list = (length) => Array.from({ length: length ?? 0 }, () => new Error('x'));
    const modules = ${JSON.stringify(files)}.map(({ tests, errors, hookErrors }) => ({
      errors: () => list(errors),
      children: {
        allTests: () => (tests ?? []).map((state) => ({ result: () => ({ state }) })),
        allSuites: () => [{ errors: () => list(hookErrors) }],
      },
    }));
    additionalFailures.count = ${additional};
    new Reporter().onTestRunEnd(modules, list(${unhandled}));
    console.error('teardown says something');
    console.log('and something else');
  `;
  const { stdout } = spawnSync(
    '/bin/sh',
    ['-c', `"$0" --input-type=module --eval "$1" 2>&1`, process.execPath, program],
    {
      encoding: 'utf8',
    },
  );
  return stdout;
}

const passed = (count: number): State[] => Array.from({ length: count }, () => 'passed');

describe('the closing line', () => {
  test.each<[File[], number, number, string]>([
    [[{ tests: passed(12) }], 0, 0, '12 passed, 0 failed'],
    [[{ tests: [...passed(3), 'failed'] }, { tests: ['failed'] }], 0, 0, '3 passed, 2 failed'],
    [[{ tests: [...passed(3), 'failed'] }, { errors: 1 }, { hookErrors: 2 }], 0, 0, '3 passed, 3 failed'],
    [[{ tests: [...passed(3), 'skipped', 'pending'] }], 0, 0, '3 passed, 0 failed, 2 skipped'],
    [[{ tests: passed(1) }], 2, 3, '1 passed, 5 failed'],
  ])(
    'of %j with %i other errors and %i other failures is "%s" and comes last',
    (files, unhandled, additional, line) => {
      expect(output(files, unhandled, additional)).toBe(`teardown says something\nand something else\n${line}\n`);
    },
  );
});
