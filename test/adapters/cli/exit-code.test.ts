import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exitCodeMeanings, exitCodeOf } from '../../../packages/cli/src/base/output.ts';
import { type ProblemCode, problemCodes } from '../../../src/core/base/problem.ts';
import { cli } from './support.ts';

const meanings = Object.entries(exitCodeMeanings);

test('docs/cli.md has the same exit codes with the same meanings', () => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)].map(([, code, meaning]) => [code, meaning]);
  expect(rows).toEqual(meanings);
});

test('countersign --help lists them', async () => {
  const { code, stdout } = await cli(['--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(
    `\nExit codes:\n${meanings.map(([exit, meaning]) => `  ${exit.padEnd(3)}  ${meaning}\n`).join('')}`,
  );
});

/** The codes of docs/wire.md by exit code. */
const byExitCode: Record<number, ProblemCode[]> = {
  3: ['unknown_request', 'run_not_found', 'agent_unknown', 'grant_unknown'],
  4: ['already_settled', 'expired', 'run_closed'],
  5: [
    'not_entitled',
    'self_approval',
    'unverified_reviewer',
    'not_permitted_by_ceiling',
    'unauthenticated',
    'forbidden',
  ],
  6: ['server_unreachable', 'no_worker'],
};

test.each(problemCodes)('%s', (code) => {
  const [expected] = Object.entries(byExitCode).find(([, codes]) => codes.includes(code)) ?? ['1'];
  expect(exitCodeOf(code)).toBe(Number(expected));
});
