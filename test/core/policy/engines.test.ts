/** Runs keep the engine that they started with: where engine 4 adds nothing, engine 3 rules as it did. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askTermsOf } from '../../../src/core/policy/ask-terms.ts';
import { compileLayers, evaluate } from '../../../src/core/policy/ruling.ts';
import { splitShell } from '../../../src/shell/split.ts';
import { agent, call, layers, shellCall } from '../generate.ts';
import { call as asked, policy } from './strictness.ts';
import { runs } from '../../support/thorough.ts';

test('no ruling without a sum differs', () => {
  fc.assert(
    fc.property(layers, fc.oneof(call, shellCall), agent, (theLayers, theCall, theAgent) => {
      const compiled = compileLayers(theLayers);
      const third = evaluate(compiled, theCall, { agent: theAgent, engine: 3 });
      expect(evaluate(compiled, theCall, { agent: theAgent, engine: 4 })).toEqual({ ...third, engine: 4 });
    }),
    { numRuns: runs(1_000) },
  );
});

test('nor do the terms of a request', () => {
  fc.assert(
    fc.property(policy, policy, (ceiling, run) => {
      const [third, fourth] = [3, 4].map((engine) =>
        askTermsOf({ ceiling, run }, evaluate(compileLayers({ ceiling, run }), asked, { engine }), asked),
      );
      expect(fourth).toEqual(third);
    }),
    { numRuns: runs(1_000) },
  );
});

test.each([3, 4])(
  'engine %i reports the last rule that might have allowed a command with other arguments',
  (engine) => {
    const pattern = 'bash:git status*';
    const run = {
      version: 1 as const,
      rules: [
        { pattern, action: 'allow' as const },
        { pattern, action: 'allow' as const, when: 'args.missing' },
      ],
      riskDefaults: {},
      approval: {},
    };
    const args = { command: 'git status', env: { GIT_PAGER: 'evil' } };
    const shell = splitShell(args.command);
    const status = { tool: 'bash', args, risk: 'write' as const, subject: 'command', shell };
    const { action, reason } = evaluate(compileLayers({ run }), status, { engine });
    expect([action, reason]).toEqual(['ask', expect.stringMatching(/^rule run#2 cannot be evaluated: /)]);
  },
);
