/**
 * Policies and calls of the kinds that public bug reports of other gates tell of. Each has acceptable answers, or a
 * reason why it keeps another one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseSubject, trialsOf } from '../../../packages/cli/src/policy/described-call.ts';
import type { JsonObject, Risk } from '../../../src/core/base/tool-call.ts';
import { lintPolicy } from '../../../src/policy-file/lint-policy.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { evaluate } from '../../../src/core/policy/ruling.ts';

interface Case {
  id: string;
  policy: string;
  /** Absent: the policy itself is in question. */
  tool?: { tool: string; risk: Risk; subject?: object; mode?: never };
  call?: JsonObject;
  expect: string[];
  about: string;
}

const text = readFileSync(join(import.meta.dirname, 'foreign-cases.json'), 'utf8');
const cases: Case[] = [
  ...(JSON.parse(text) as Case[]),
  {
    id: '004',
    policy: 'rules: [{ pattern: bash, action: allow }, { pattern: "bash:rm *", action: deny }]',
    tool: { tool: 'bash', risk: 'write', subject: { argument: 'command', shell: true } },
    call: { command: `rm -rf /srv; true ${'a'.repeat(16_400)}` },
    expect: ['deny', 'ask'],
    about: 'a command of more than 16,384 characters',
  },
  { id: '215', policy: `rules: ${'['.repeat(50_000)}`, expect: ['refused'], about: 'a policy that nests too deep' },
];

const unseen = 'docs/policy.md: What a pattern does not see';
/** Cases that keep an answer that is not acceptable, by the page that says why. */
const kept: Readonly<Record<string, { page: string; ids: string; hasWarning?: true }>> = {
  'letter case and platforms': { page: unseen, ids: '041 043 046' },
  'other spellings of a path': { page: unseen, ids: '049 053 054 056' },
  'other spellings of an address': { page: unseen, ids: '068 070 072' },
  'a * in an address crosses the host': { page: unseen, ids: '059 061 063 064', hasWarning: true },
  'several values in one text': { page: unseen, ids: '078 080 172', hasWarning: true },
  'programs that run others': { page: unseen, ids: '148 149 154 157' },
  'what a program does with its options': { page: unseen, ids: '160 161 166 168 169' },
  'a pattern on the whole arguments': { page: 'docs/policy.md: Patterns', ids: '088', hasWarning: true },
  'values of different types are unequal': {
    page: 'docs/policy-reference.md: Conditions',
    ids: '093 096',
    hasWarning: true,
  },
  'negative amounts and empty lists': { page: 'docs/policy.md: Conditions', ids: '084 108' },
  'a bare command, and **': { page: 'docs/coming-from/opencode.md', ids: '122 124 126' },
};
const keptIds = Object.values(kept).flatMap(({ ids }) => ids.split(' '));

/** The answer to the call; of a policy alone whether it is refused or warned of. */
function answerTo({ policy, tool, call = {} }: Case): { answer: string; warnings: number } {
  const parsed = parsePolicy(policy, { ceiling: true });
  if ('problems' in parsed) return { answer: 'refused', warnings: 0 };
  const warnings = lintPolicy(parsed.policy, { of: 'ceiling' }).length;
  if (tool === undefined) return { answer: warnings > 0 ? 'warned' : 'accepted without a word', warnings };
  const { tool: name, risk, subject, mode } = tool;
  const described = { tool: name, risk, args: call, mode, ...(subject && { subject: parseSubject(subject) }) };
  return { answer: evaluate(...trialsOf(parsed.policy, 'ceiling')(described)).action, warnings };
}

test.each(cases)('$id: $about', (each) => {
  const { answer } = answerTo(each);
  if (keptIds.includes(each.id)) expect(each.expect).not.toContain(answer);
  else expect(each.expect).toContain(answer);
});

test.each(Object.entries(kept))('%s: the page says it, and policy check warns where it can', (_, row) => {
  const [page, heading] = row.page.split(': ');
  const written = readFileSync(join(import.meta.dirname, '../../..', page!), 'utf8');
  if (heading !== undefined) expect(written).toMatch(new RegExp(`^##+ ${heading}$`, 'm'));
  for (const id of row.ids.split(' ')) {
    const found = cases.find((each) => each.id === id)!;
    if (row.hasWarning === true) expect(answerTo(found).warnings).toBeGreaterThan(0);
  }
});
