import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { indexCandidates, compilePolicy, type Candidate } from '../../../src/core/policy/compiled-policy.ts';
import { globSubject, listSubject } from '../../../src/core/match/glob.ts';
import { callSubjects, matches, type CompiledPattern } from '../../../src/core/match/matching.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { actions } from '../../../src/core/policy/modes.ts';
import { evaluate } from '../../../src/core/policy/ruling.ts';
import { least, runs } from '../../support/thorough.ts';

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

test('what the index omits does not match, and what it keeps is in order', () => {
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
    { numRuns: runs(1_000) },
  );
  expect(leftOut).toBeGreaterThan(least(500));
});

test.each<[string, number[]]>([
  ['xyz', []],
  ['x q003 x', [3]],
  ['q003', [3]],
  ['q003q001', [1, 3]],
  ['q00', []],
])('four characters of a pattern show that it does not match: %s', (command, expected) => {
  const all = Array.from({ length: 16 }, (_, index) => ({
    glob: `*q${String(index).padStart(3, '0')}*`,
    action: 'ask' as const,
  }));
  const call = { tool: 'bash', args: { command }, subject: 'command' };
  const candidates = compilePolicy(policyOf(all), 'run').candidates(callSubjects(call)).all;
  const few = indexCandidates(candidates)!.mayMatch(globSubject(command))!;
  expect(few.map((each) => candidates.indexOf(each))).toEqual(expected);
});

test('the hundredth ruling equals the first', () => {
  fc.assert(
    fc.property(rules, fc.array(text, { minLength: 30, maxLength: 60 }), (all, commands) => {
      const often = { run: compilePolicy(policyOf(all), 'run') };
      for (const command of commands) {
        const call = { tool: 'bash', args: { command }, risk: 'write' as const, subject: 'command' };
        expect(evaluate(often, call)).toEqual(evaluate({ run: compilePolicy(policyOf(all), 'run') }, call));
      }
    }),
    { numRuns: runs(30) },
  );
});

describe('how rules are indexed', () => {
  const candidatesOf = (...globs: (string | null)[]) =>
    compilePolicy(policyOf(globs.map((glob) => ({ glob, action: 'ask' }))), 'run').candidates(
      callSubjects({ tool: 'bash', args: {} }),
    ).all;
  const many = (count: number, globAt: (index: number) => string | null) =>
    candidatesOf(...Array.from({ length: count }, (_, index) => globAt(index)));
  const kept = (candidates: ReturnType<typeof candidatesOf>, text: string) =>
    indexCandidates(candidates)
      ?.mayMatch(globSubject(text))
      ?.map((each) => candidates.indexOf(each));

  test.each([
    [15, false],
    [16, true],
  ])('%i rules have an index: %s', (count, expected) => {
    expect(indexCandidates(many(count, (index) => `word${index}`)) !== undefined).toBe(expected);
  });

  test.each([
    ['wildcards only', (): string => '*'],
    ['too short', (): string => 'ab*'],
    ['no pattern for arguments', (): null => null],
  ])('%s: no index', (_, globAt) => expect(indexCandidates(many(16, globAt))).toBeUndefined());

  test('each under its four characters that the fewest rules share', () => {
    const before = many(20, (index) => `*common${1000 + index}*`);
    const after = many(20, (index) => `*${1000 + index}common*`);
    expect([kept(before, 'a common'), kept(after, 'a common')]).toEqual([[], []]);
    expect([kept(before, 'common1007'), kept(after, '1007common')]).toEqual([[7], [7]]);
  });

  test('a rule without four literal characters is always kept, in its place', () => {
    const candidates = many(20, (index) => (index % 5 === 2 ? 'a*' : `word${1000 + index}`));
    expect(kept(candidates, 'none')).toEqual([2, 7, 12, 17]);
    expect(kept(candidates, 'word1009')).toEqual([2, 7, 9, 12, 17]);
  });

  test('a text longer than the number of rules is tried with each rule; so is one that cannot be matched', () => {
    const candidates = many(20, (index) => `word${index}`);
    // The mapped text has one additional character.
    expect(kept(candidates, 'n'.repeat(19))).toEqual([]);
    expect(kept(candidates, 'n'.repeat(20))).toBeUndefined();
    expect(indexCandidates(candidates)?.mayMatch({ problem: 'no text' })).toBeUndefined();
  });

  test('the text of a list is tried with each rule: a quote in an element is written otherwise there', () => {
    const candidates = many(20, (index) => (index === 3 ? '*a"bc*' : `word${index}`));
    expect(kept(candidates, 'a"bc')).toEqual([3]);
    const list = listSubject('["a\\"bc"]', [globSubject('a"bc')]);
    expect(indexCandidates(candidates)!.mayMatch(list)).toBeUndefined();
  });

  // 32,000 times 250 is exactly the most that a match may cost.
  test.each([
    [31_999, true],
    [32_000, false],
  ])('with a text of %i characters the longest pattern can still be matched: %s', (length, expected) => {
    const [long, short] = candidatesOf('x'.repeat(250), 'word') as [Candidate, Candidate];
    const candidates = [long, ...Array.from({ length: 32_100 }, () => short)];
    expect(indexCandidates(candidates)!.mayMatch(globSubject('n'.repeat(length))) !== undefined).toBe(expected);
  });
});
