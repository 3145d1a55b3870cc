import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { indexCandidates } from '../../src/core/candidate-index.ts';
import { compilePolicy } from '../../src/core/compiled-policy.ts';
import { globSubject } from '../../src/core/glob.ts';
import { callSubjects, matches, type CompiledPattern } from '../../src/core/matching.ts';
import { actions, type Policy } from '../../src/core/policy.ts';
import { evaluate } from '../../src/core/ruling.ts';

const piece = fc.constantFrom('*', '?', '[ab]', 'abcd', 'git ', 'push', '/', '/etc', 'é', '😀', 'a', ' ', '"id":"');
const glob = fc
  .array(piece, { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join('').trim())
  .filter((text) => text !== '');
const text = fc.array(fc.oneof(piece, fc.constant('xyz')), { maxLength: 6 }).map((parts) => parts.join(''));
const rules = fc.array(fc.record({ glob: fc.option(glob), action: fc.constantFrom(...actions) }), {
  minLength: 16,
  maxLength: 40,
});
const policyOf = (all: { glob: string | null; action: (typeof actions)[number] }[]): Policy => ({
  version: 1,
  rules: all.map(({ glob, action }) => ({ pattern: glob === null ? 'bash' : `bash:${glob}`, action })),
  riskDefaults: {},
  approval: {},
});

test('what the index leaves out does not match, and what it keeps is in order', () => {
  let leftOut = 0;
  fc.assert(
    fc.property(rules, text, (all, command) => {
      const call = { tool: 'bash', args: { command }, subject: 'command' };
      const candidates = compilePolicy(policyOf(all), 'run').candidates(callSubjects(call)).all;
      const few = indexCandidates(candidates)?.mayMatch(globSubject(command));
      if (few === undefined) return;
      const kept = new Set(few);
      expect(few).toEqual(candidates.filter((each) => kept.has(each)));
      for (const each of candidates) {
        if (kept.has(each)) continue;
        leftOut += 1;
        expect(matches(each.rule.pattern as CompiledPattern, callSubjects(call))).toBe(false);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(leftOut).toBeGreaterThan(1_000);
});

test('the hundredth ruling is as the first', () => {
  fc.assert(
    fc.property(rules, fc.array(text, { minLength: 30, maxLength: 60 }), (all, commands) => {
      const often = { run: compilePolicy(policyOf(all), 'run') };
      for (const command of commands) {
        const call = { tool: 'bash', args: { command }, risk: 'write' as const, subject: 'command' };
        expect(evaluate(often, call)).toEqual(evaluate({ run: compilePolicy(policyOf(all), 'run') }, call));
      }
    }),
    { numRuns: 100 },
  );
});
