/** The second gate rules as the run did, whichever engine a permit names. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { presentCeiling } from '../../src/activities/present-ceiling.ts';
import { mayRun } from '../../src/core/policy/modes.ts';
import { compileAssessRules } from '../../src/core/policy/assess-rules.ts';
import { assessRecorded } from '../../src/core/policy/recorded-assessment.ts';
import { compilePolicy, engine, evaluate, type RuledCall } from '../../src/core/policy/ruling.ts';
import { splitShell } from '../../src/shell/split.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { agent, modedPolicy, policy, call as anyCall } from '../core/generate.ts';
import { least, runs } from '../support/thorough.ts';

/** What is easily misread: lists, what may be absent, wrappers, and other arguments of a command. */
const easilyMisread = fc
  .record({
    patterns: fc.array(
      fc.constantFrom(
        'send:a',
        'send:["b",1]',
        'bash:docker exec * ls*',
        'bash:rm *',
        'bash:git*',
        'bash',
        'send',
        '*',
      ),
      { minLength: 1, maxLength: 4 },
    ),
    fields: fc.constantFrom<Record<string, string> | undefined>(undefined, undefined, { to: 'b' }, { to: 'a*' }),
    when: fc.constantFrom(undefined, '!has(args.x)', 'has(args.x)', '"x" in args', '!("x" in args)'),
    actions: fc.array(fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const), {
      minLength: 4,
      maxLength: 4,
    }),
    mode: fc.constantFrom(undefined, 'headless' as const, 'approve_all' as const, 'confirm_high_risk' as const),
    assess: fc.constantFrom<Policy['assess']>(undefined, [
      { pattern: 'send', args: { to: 'b' }, severity: 'critical' },
    ]),
  })
  .map(({ patterns, fields, when, actions, mode, assess }): Policy => ({
    version: 1,
    ...(mode && { mode }),
    rules: patterns.map((pattern, index) => ({
      pattern,
      action: actions[index]!,
      ...(index === 0 && fields && { args: fields }),
      ...(index === patterns.length - 1 && when !== undefined && { when }),
    })),
    riskDefaults: {},
    approval: {},
    ...(assess && { assess }),
  }));
const command = fc
  .record({
    command: fc.constantFrom('ls', 'git status', 'docker exec box rm ls', 'true; rm x', 'r\0m x', 'sudo rm x'),
    env: fc.constantFrom<object>({}, {}, { env: { A: '1' } }),
  })
  .map(({ command, env }): RuledCall => ({
    tool: 'bash',
    args: { command, ...env },
    risk: 'write',
    subject: 'command',
    shell: splitShell(command),
  }));
const sending = fc
  .record({
    to: fc.constantFrom('a', 'b', ['b', 1], ['a', 'b'], []),
    x: fc.constantFrom<object>({}, { x: null }, { x: null }),
  })
  .map(({ to, x }): RuledCall => ({ tool: 'send', args: { to, ...x }, risk: 'write', subject: 'to' }));

/** A condition sees a `null`. */
const exception = fc.constantFrom('has(args.x)', '"x" in args').map((when): Policy => ({
  version: 1,
  rules: [
    { pattern: '*', action: 'deny' },
    { pattern: 'send', when, action: 'allow' },
  ],
  riskDefaults: {},
  approval: {},
}));

const ceilings = fc.oneof(
  { weight: 1, arbitrary: exception },
  { weight: 3, arbitrary: easilyMisread },
  { weight: 1, arbitrary: fc.oneof(policy, modedPolicy) },
);
const calls = fc.oneof({ weight: 2, arbitrary: command }, { weight: 2, arbitrary: sending }, anyCall);
const claimed = fc.constantFrom(engine, undefined, 0, -1, engine + 1, 99, 1.5, NaN, Infinity, -Infinity);

/** The ruling of a run's gate with this ceiling. */
function denies(ceiling: Policy, call: RuledCall, by: string): boolean {
  const assessment = assessRecorded(call, compileAssessRules({ ceiling }));
  const layers = { ceiling: compilePolicy(ceiling, 'ceiling') };
  return !mayRun(evaluate(layers, call, { agent: by, assessment }).action);
}

test('what the ceiling denies in a run does not start, whichever engine the permit names', () => {
  let denied = 0;
  fc.assert(
    fc.property(ceilings, calls, agent, claimed, (ceiling, call, by, number) => {
      const { tool: name, args, risk, subject, shell, beside } = call;
      const called = { name, risk, subject, beside, ...(shell && { shellSubject: true as const }) };
      const denial = presentCeiling(ceiling).denial(called, args, { agent: by, engine: number });
      expect(denial !== undefined).toBe(denies(ceiling, call, by));
      if (denial !== undefined) denied++;
    }),
    { numRuns: runs(4_000) },
  );
  expect(denied).toBeGreaterThan(least(500));
});
