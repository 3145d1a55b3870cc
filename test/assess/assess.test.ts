import { describe, expect, test } from 'vitest';
import type { Uncertainty } from '../../src/core/shell/parts.ts';
import {
  type AssessRule,
  joinAssessments,
  type Assessment,
  type AssessedCall,
} from '../../src/core/assess/assessment.ts';
import { compileAssessRules } from '../../src/core/policy/assess-rules.ts';
import { assessRecorded } from '../../src/core/policy/recorded-assessment.ts';
import { assess } from '../../src/assess/assess.ts';
import type { Severity } from '../../src/core/base/tool-call.ts';

const ceiling = (...assess: AssessRule[]) => compileAssessRules({ ceiling: { assess } });
const call = (overrides: Partial<AssessedCall> = {}): AssessedCall => ({
  tool: 'deploy',
  args: { target: 'production', count: 3 },
  risk: 'write',
  ...overrides,
});

describe('without rules, the risk and the built-in assessors decide', () => {
  test.each<[Partial<AssessedCall>, Severity, string[]]>([
    [{ risk: 'read_only' }, 'safe', ['the tool declares its risk as read_only']],
    [{ risk: 'write' }, 'medium', ['the tool declares its risk as write']],
    [{ risk: 'destructive' }, 'high', ['the tool declares its risk as destructive']],
    [{ risk: 'unknown' }, 'high', ['the risk of the tool is unknown']],
    [
      { tool: 'read_file', args: { path: '/etc/shadow' }, risk: 'read_only' },
      'high',
      ['the path holds credentials', 'the path is in a system folder', 'the tool declares its risk as read_only'],
    ],
    [
      { tool: 'fetch', args: { url: 'http://a.example' }, risk: 'destructive' },
      'high',
      ['the connection is not encrypted', 'the tool declares its risk as destructive'],
    ],
  ])('%j: %s', (overrides, severity, reasons) => expect(assess(call(overrides))).toMatchObject({ severity, reasons }));
});

describe('a rule', () => {
  test.each<[string, AssessRule, Partial<AssessedCall>, Partial<Assessment>]>([
    ['raises', { pattern: 'deploy', severity: 'critical' }, {}, { severity: 'critical' }],
    ['lowers what the risk says', { pattern: 'deploy', severity: 'low' }, {}, { severity: 'low' }],
    [
      'lowers what the risk says of a destructive tool, not that it cannot be undone',
      { pattern: 'deploy', severity: 'low' },
      { risk: 'destructive' },
      { severity: 'low', reversible: false, requiresApproval: false },
    ],
    [
      'can say that it can be undone',
      { pattern: 'deploy', severity: 'low', reversible: true },
      { risk: 'destructive' },
      { reversible: true },
    ],
    ['can say that it cannot', { pattern: 'deploy', severity: 'low', reversible: false }, {}, { reversible: false }],
    [
      'does not lower what a built-in assessor says',
      { pattern: 'delete_file', severity: 'low', reversible: true },
      { tool: 'delete_file', args: { path: 'a' } },
      { severity: 'high', reversible: false },
    ],
    ['that does not match says nothing', { pattern: 'other', severity: 'critical' }, {}, { severity: 'medium' }],
    ['sees the arguments', { pattern: 'deploy:*"production"*', severity: 'high' }, {}, { severity: 'high' }],
    ['sees the subject', { pattern: 'deploy:prod*', severity: 'high' }, { subject: 'target' }, { severity: 'high' }],
    [
      'sees single arguments',
      { pattern: '*', args: { target: 'prod*', count: '[1-5]' }, severity: 'high' },
      {},
      { severity: 'high' },
    ],
    [
      'needs all of them',
      { pattern: '*', args: { target: 'prod*', count: '[4-5]' }, severity: 'high' },
      {},
      { severity: 'medium' },
    ],
    [
      'counts for a call without the argument',
      { pattern: '*', args: { constructor: '*' }, severity: 'critical' },
      {},
      {
        severity: 'critical',
        reasons: [expect.stringContaining("argument 'constructor' is missing"), expect.any(String)],
      },
    ],
    [
      'does not lower a call without the argument',
      { pattern: '*', args: { constructor: '*' }, severity: 'low' },
      {},
      { severity: 'medium' },
    ],
    [
      'sees each element of a list',
      { pattern: '*', args: { zones: 'eu-*' }, severity: 'critical' },
      { args: { zones: ['us-1', ['eu-1']] } },
      { severity: 'critical' },
    ],
    [
      'lowers a list only if each element matches',
      { pattern: '*', args: { zones: 'eu-*' }, severity: 'low' },
      { args: { zones: ['us-1', 'eu-1'] } },
      { severity: 'medium' },
    ],
    ['says why', { pattern: '*', severity: 'high', reason: 'prod' }, {}, { reasons: ['prod', expect.any(String)] }],
    [
      'without a reason names itself',
      { pattern: '*', severity: 'high' },
      {},
      { reasons: ['assess rule ceiling.assess#1 says high', expect.any(String)] },
    ],
    [
      'names what is affected',
      { pattern: '*', severity: 'high', affected: ['target', 'count', 'zones', 'constructor'] },
      { args: { target: 'prod', count: 3, zones: ['a', 'b', { c: 1 }] } },
      { affectedResources: ['target:prod', 'count:3', 'zones:a', 'zones:b', 'zones:{…}'] },
    ],
    ['recommends', { pattern: '*', severity: 'high', recommend: 'Ask.' }, {}, { recommendations: ['Ask.'] }],
    ['below medium asks for no approval', { pattern: '*', severity: 'low' }, {}, { requiresApproval: false }],
    ['unless it says so', { pattern: '*', severity: 'low', requiresApproval: true }, {}, { requiresApproval: true }],
    [
      'from medium on asks for approval',
      { pattern: '*', severity: 'medium' },
      { risk: 'read_only' },
      { requiresApproval: true },
    ],
    [
      'unless it says not',
      { pattern: '*', severity: 'critical', requiresApproval: false },
      { risk: 'write' },
      { requiresApproval: false },
    ],
  ])('%s', (_, rule, overrides, expected) => expect(assess(call(overrides), ceiling(rule))).toMatchObject(expected));

  test('that cannot be evaluated counts, and lowers nothing', () => {
    const rule = { id: 'prod', pattern: 'deploy:*' };
    const missing = call({ subject: 'missing' });
    expect(assess(missing, ceiling({ ...rule, severity: 'critical' }))).toMatchObject({
      severity: 'critical',
      reasons: [
        `assess rule prod cannot be evaluated: argument 'missing' is missing`,
        'the tool declares its risk as write',
      ],
      requiresApproval: true,
    });
    expect(assess(missing, ceiling({ ...rule, severity: 'low' })).severity).toBe('medium');
  });

  test.each<[string, Partial<AssessRule>, object]>([
    ['its severity', { severity: 'medium' }, { severity: 'medium' }],
    ['that the call cannot be undone', { severity: 'low', reversible: false }, { severity: 'low', reversible: false }],
    ['that somebody has to approve', { severity: 'low', requiresApproval: true }, { requiresApproval: true }],
  ])('that cannot be evaluated bounds what another one lowers: %s', (_name, rule, assessment) => {
    const lowers: AssessRule = { pattern: 'keep_row', severity: 'low', reversible: true };
    const reads: AssessRule = { pattern: 'keep_row', args: { missing: 'x' }, severity: 'low', ...rule };
    const destructive = call({ tool: 'keep_row', risk: 'destructive' });
    expect(assess(destructive, ceiling(lowers))).toMatchObject({ severity: 'low', requiresApproval: false });
    expect(assess(destructive, ceiling(lowers, reads))).toMatchObject(assessment);
  });

  test('exceeds the shared budget together with others: then none counts', () => {
    const args = { text: 'a'.repeat(400_000) };
    const rules = ceiling(
      ...Array.from({ length: 20 }, (_, index) => ({
        pattern: `deploy:*${'b'.repeat(10 + index)}`,
        severity: 'low' as const,
      })),
    );
    expect(assess(call({ args }), rules).severity).toBe('high');
    expect(assess(call({ args }), rules.toReversed())).toEqual(assess(call({ args }), rules));
  });
});

describe('of several rules', () => {
  test('the most severe counts, with all reasons, the worst first', () => {
    const rules = ceiling(
      { pattern: '*', severity: 'low', reason: 'a' },
      { pattern: 'deploy', severity: 'high', reason: 'b', reversible: true },
      { pattern: 'dep*', severity: 'medium', reason: 'c', reversible: false },
    );
    expect(assess(call(), rules)).toMatchObject({
      severity: 'high',
      reasons: ['b', 'c', 'a', 'the tool declares its risk as write'],
      reversible: false,
    });
  });

  test('those of a run can only raise the severity if there is a ceiling', () => {
    const low: AssessRule = { pattern: '*', severity: 'low', reversible: true };
    const destructive = call({ risk: 'destructive' });
    expect(assess(destructive, compileAssessRules({ run: { assess: [low] } })).severity).toBe('low');
    const beside = compileAssessRules({ ceiling: {}, run: { assess: [low] } });
    expect(assess(destructive, beside)).toMatchObject({ severity: 'high', reversible: false, requiresApproval: true });
    const critical = compileAssessRules({ ceiling: {}, run: { assess: [{ ...low, severity: 'critical' }] } });
    expect(assess(destructive, critical).severity).toBe('critical');
  });
});

describe('a split command', () => {
  const split = (parts: string[], uncertain: Uncertainty[] = []): AssessedCall => ({
    tool: 'run',
    args: { line: parts.join('; ') },
    risk: 'write',
    subject: 'line',
    shell: { parts: parts.map((text) => ({ text, reduced: text.replace(/^\/bin\//, '') })), uncertain },
  });
  test.each<[string, AssessRule, AssessedCall, Severity]>([
    ['one part raises', { pattern: 'run:deploy *', severity: 'high' }, split(['ls', 'deploy x']), 'high'],
    ['by its program alone', { pattern: 'run:deploy *', severity: 'high' }, split(['/bin/deploy x']), 'high'],
    ['the whole text raises', { pattern: 'run:*; deploy *', severity: 'high' }, split(['ls', 'deploy x']), 'high'],
    ['every part must match to lower', { pattern: 'run:git *', severity: 'low' }, split(['git log', 'x']), 'medium'],
    ['and does', { pattern: 'run:git *', severity: 'low' }, split(['git log', 'git status']), 'low'],
    ['not by its program alone', { pattern: 'run:git *', severity: 'low' }, split(['/bin/git log']), 'medium'],
    [
      'not where it is uncertain',
      { pattern: 'run:git *', severity: 'low' },
      split(['git log'], ['parse error']),
      'medium',
    ],
    ['not where it was not split', { pattern: 'run:*', severity: 'low' }, split([], ['not split']), 'medium'],
    [
      'what was not split raises',
      { pattern: 'run:deploy *', severity: 'critical' },
      split([], ['not split']),
      'critical',
    ],
    ['what is too long', { pattern: 'run:deploy *', severity: 'critical' }, split(['ls'], ['too long']), 'critical'],
    ['a rule without arguments', { pattern: 'run', severity: 'low' }, split(['git log', 'x']), 'low'],
  ])('%s', (_, rule, call, expected) => expect(assess(call, ceiling(rule)).severity).toBe(expected));
});

test('other assessments are joined, and the built-in assessors are not called again', () => {
  const said: Assessment = {
    severity: 'critical',
    reasons: ['freeze'],
    affectedResources: ['env:prod'],
    reversible: false,
    recommendations: ['Wait.'],
    requiresApproval: true,
  };
  const wipe = call({ tool: 'delete_file', args: { path: 'a' } });
  expect(assess(wipe, [], [said])).toEqual({
    ...said,
    reasons: ['freeze', 'it deletes files', 'the tool declares its risk as write'],
    affectedResources: ['env:prod', 'file:a'],
    recommendations: ['Wait.', 'Check that there is a copy of what is deleted.'],
  });
  expect(assessRecorded(wipe, [], [said])).toEqual({
    ...said,
    reasons: ['freeze', 'the tool declares its risk as write'],
  });
});

test('long lists and texts are truncated, with a note', () => {
  const one = joinAssessments([]);
  const joined = joinAssessments([
    { ...one, reasons: Array.from({ length: 30 }, (_, index) => `r${index}`) },
    { ...one, affectedResources: [`file:${'x'.repeat(500)}\ud83d`, 'file:\ud83d'] },
  ]);
  expect(joined.reasons.slice(-2)).toEqual(['r8', 'and 21 more']);
  expect(joined.affectedResources).toEqual([`file:${'x'.repeat(194)}…`, 'file:\ufffd']);
});
