import { expect, test } from '@jest/globals';
import { exitCodeOf } from '../../../src/adapters/cli/exit-code.ts';
import { type ProblemCode, problemCodes } from '../../../src/core/base/problem.ts';

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
