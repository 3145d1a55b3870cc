import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  type AssessRule,
  assessmentBounds,
  severityOf,
  severityRank,
  type Assessment,
  type AssessedCall,
} from '../../src/core/assess/assessment.ts';
import { compileAssessRules } from '../../src/core/policy/assess-rules.ts';
import { assess } from '../../src/assess/assess.ts';
import { risks, severities, type JsonObject } from '../../src/core/base/tool-call.ts';
import { runs } from '../support/thorough.ts';

const tried = { numRuns: runs(200) };
const words = 'send email delete file read pay bash query path to url command amount sql x'.split(' ');
const name = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('_'));
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('/etc/passwd', 'rm -rf /', 'drop table x', 'http://10.0.0.1/', 'a@b.example,c@d.example', '20000'),
  fc
    .array(fc.constantFrom('rm', '-rf', '/', '~', '|', 'sh', 'curl', '>', '&&', '$(', '../core/', '*', ';', '--'), {
      maxLength: 30,
    })
    .map((parts) => parts.join(' ')),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any')),
    fc.dictionary(fc.oneof(name, fc.string()), tie('any')),
  ),
})).any;
const args = fc.dictionary(
  fc.oneof(name, fc.constantFrom('__proto__', 'constructor')),
  value,
) as fc.Arbitrary<JsonObject>;
const call: fc.Arbitrary<AssessedCall> = fc.record(
  {
    tool: fc.oneof(name, fc.string({ unit: 'binary' })),
    args,
    risk: fc.constantFrom(...risks, 'unknown' as const),
    subject: name,
  },
  { requiredKeys: ['tool', 'args', 'risk'] },
);
const severity = fc.constantFrom(...severities);
const rule: fc.Arbitrary<AssessRule> = fc.record(
  {
    pattern: fc.constantFrom('*', 'send*', '*file*', '*:*a*', '*:{*', 'x', '[z-a]'),
    args: fc.constantFrom<Record<string, string>>({ path: '*' }, { to: '*@*' }, { x: '?*' }),
    severity,
    reversible: fc.boolean(),
    requiresApproval: fc.boolean(),
    affected: fc.array(name),
  },
  { requiredKeys: ['pattern', 'severity'] },
);
const rules = fc.array(rule, { maxLength: 5 });
const extra: fc.Arbitrary<Assessment[]> = fc.array(
  fc.record({
    severity,
    reasons: fc.array(fc.string(), { maxLength: 12 }),
    affectedResources: fc.array(fc.string(), { maxLength: 25 }),
    reversible: fc.boolean(),
    recommendations: fc.array(fc.string(), { maxLength: 6 }),
    requiresApproval: fc.boolean(),
  }),
  { maxLength: 3 },
);
const shuffled = <Item>(items: Item[], seed: number): Item[] =>
  items
    .map((item, index) => ({ item, key: (index * 7 + seed) % 11 }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);
const ofCeiling = (assess: AssessRule[]) => compileAssessRules({ ceiling: { assess } });

describe('for any call, any rules and any other assessments', () => {
  test('there is an answer, within its bounds', () => {
    fc.assert(
      fc.property(call, rules, extra, (call, rules, extra) => {
        const found = assess(call, ofCeiling(rules), extra);
        expect(severities).toContain(found.severity);
        for (const list of ['reasons', 'affectedResources', 'recommendations'] as const) {
          expect(found[list].length).toBeLessThanOrEqual(assessmentBounds[list]);
          expect(new Set(found[list]).size).toBe(found[list].length);
          for (const text of found[list]) expect(text.length).toBeLessThanOrEqual(assessmentBounds.characters);
        }
        expect(found.reasons.length).toBeGreaterThan(0);
        expect(JSON.parse(JSON.stringify(found))).toEqual(found);
      }),
      tried,
    );
  });

  test('the same input gives the same answer, and nothing is mutated', () => {
    fc.assert(
      fc.property(call, rules, extra, (call, rules, extra) => {
        const before = JSON.stringify([call, rules, extra]);
        expect(assess(call, ofCeiling(rules), extra)).toEqual(assess(call, ofCeiling(rules), extra));
        expect(JSON.stringify([call, rules, extra])).toBe(before);
      }),
      tried,
    );
  });

  test('without rules, the severity is never below that of the risk', () => {
    fc.assert(
      fc.property(call, extra, (call, extra) => {
        const found = assess(call, [], extra);
        expect(severityRank(found.severity)).toBeGreaterThanOrEqual(severityRank(severityOf(call.risk)));
        if (call.risk !== 'read_only') expect(found.requiresApproval).toBe(true);
        if (call.risk === 'destructive') expect(found.reversible).toBe(false);
      }),
      tried,
    );
  });

  test("other assessments, and a run's rules under a ceiling, only raise the severity", () => {
    fc.assert(
      fc.property(call, rules, rules, extra, (call, ceiling, run, extra) => {
        const alone = assess(call, ofCeiling(ceiling));
        const compiled = compileAssessRules({ ceiling: { assess: ceiling }, run: { assess: run } });
        const found = assess(call, compiled, extra);
        expect(severityRank(found.severity)).toBeGreaterThanOrEqual(severityRank(alone.severity));
        for (const said of extra)
          expect(severityRank(found.severity)).toBeGreaterThanOrEqual(severityRank(said.severity));
        if (alone.requiresApproval || extra.some(({ requiresApproval }) => requiresApproval))
          expect(found.requiresApproval).toBe(true);
        if (!alone.reversible || extra.some(({ reversible }) => !reversible)) expect(found.reversible).toBe(false);
      }),
      tried,
    );
  });

  test('order does not matter', () => {
    fc.assert(
      fc.property(call, rules, extra, fc.nat(10), (call, rules, extra, seed) => {
        const compiled = ofCeiling(rules);
        expect(assess(call, shuffled(compiled, seed), shuffled(extra, seed))).toEqual(assess(call, compiled, extra));
      }),
      tried,
    );
  });

  test('our reasons contain no argument values: they are shown even if arguments are redacted', () => {
    fc.assert(
      fc.property(name, name, text, fc.constantFrom(...risks), (tool, key, text, risk) => {
        const secret = 'hunter2secret';
        const { reasons, recommendations } = assess({ tool, args: { [key]: `${text} ${secret}`, b: [secret] }, risk });
        expect([...reasons, ...recommendations].join(' ')).not.toContain(secret);
      }),
      tried,
    );
  });
});

describe('hostile arguments terminate', () => {
  const cyclic: JsonObject = {};
  cyclic['path'] = cyclic;
  let deep: JsonObject = {};
  for (let level = 0; level < 100_000; level += 1) deep = { path: deep };
  const nested = (depth: number): JsonObject => (depth === 0 ? { x: 1 } : { x: nested(depth - 1) });
  test.each<[string, string, JsonObject]>([
    ['a cycle', 'delete_file', cyclic],
    ['deep nesting', 'delete_file', deep],
    ['nesting that is just too deep', 'read', nested(21)],
    ['a million paths', 'delete_file', { paths: Array.from({ length: 1_000_000 }, (_, index) => `/etc/${index}`) }],
    [
      'a million keys',
      'send_email',
      Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`to${index}`, 'a'])),
    ],
    ['a long command', 'bash', { command: 'rm -rf / ;'.repeat(200_000) }],
    ['many commands', 'bash', { commands: Array.from({ length: 20_000 }, () => 'sudo rm -rf /etc/* ~') }],
  ])('%s', (_, tool, args) => expect(assess({ tool, args, risk: 'write' }).severity).toMatch(/high|critical/));

  test.each<[string, string, JsonObject, string]>([
    [
      'many programs',
      'bash',
      { command: `sudo ${Array.from({ length: 3_000 }, (_, index) => `p${index}`).join(' ')}` },
      'high',
    ],
    [
      'every program of the table with many files',
      'bash',
      { command: `sudo ${'rm dd chmod git '.repeat(100)}${'/a '.repeat(5_000)}` },
      'high',
    ],
    ['a long path', 'save', { path: '../core/'.repeat(300_000) }, 'high'],
    ['a long list of recipients', 'send_email', { to: 'a@b.example,'.repeat(80_000) }, 'critical'],
    ['angle brackets', 'send_email', { to: '<'.repeat(1_000_000) }, 'medium'],
    ['a long amount', 'pay', { amount: '1,'.repeat(500_000) }, 'high'],
    ['comments', 'query', { sql: '/*'.repeat(9_000) }, 'medium'],
  ])('%s', (_, tool, args, severity) => expect(assess({ tool, args, risk: 'write' }).severity).toBe(severity));
});
