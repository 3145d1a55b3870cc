import { expect, test } from 'vitest';
import { lintNames, type KnownNames } from '../../src/policy-file/lint-names.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';

const known: KnownNames = {
  tools: new Map([
    ['send_email', ['to', 'subject']],
    ['pay', ['amount', 'recipient']],
    ['bash', ['command', 'timeout']],
    ['anything', undefined],
  ]),
  agents: ['clerk'],
};
const messages = (document: object): string[] => {
  const parsed = parsePolicy(document, { ceiling: true });
  if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
  return lintNames(parsed.policy, 'ceiling', known).map(({ message }) => message);
};
const rule = (more: object) => ({ rules: [{ action: 'deny', ...more }] });

test.each<[object, string]>([
  [
    rule({ pattern: 'send_mail' }),
    "rule ceiling#1 matches no tool: there is no 'send_mail'; did you mean 'send_email'?",
  ],
  [rule({ pattern: 'Bash:rm *' }), "rule ceiling#1 matches no tool: there is no 'Bash'; did you mean 'bash'?"],
  [rule({ pattern: 'drop_*' }), "rule ceiling#1 matches no tool: there is no 'drop_*'"],
  [
    rule({ pattern: 'pay', args: { amout: '*' } }),
    "rule ceiling#1 names argument 'amout', which 'pay' has not; did you mean 'amount'?",
  ],
  [
    rule({ pattern: 'pay', when: 'has(args.total) && args.total > 5' }),
    "rule ceiling#1 names argument 'total', which 'pay' has not",
  ],
  [
    { agents: { clark: rule({ pattern: 'pay' }) } },
    "rule ceiling.clark#1 is for agent 'clark', and there is none of that name; did you mean 'clerk'?",
  ],
  [
    { approval: { show: { pai: ['amount'] } } },
    "'approval.show' has 'pai', and there is no such tool; did you mean 'pay'?",
  ],
  [{ approval: { show: { pay: ['sum'] } } }, "'approval.show' names argument 'sum', which 'pay' has not"],
])('%j', (document, message) => expect(messages(document)).toEqual([message]));

test.each<object>([
  rule({ pattern: '*' }),
  rule({ pattern: 'send_*', args: { to: '*@evil.example' } }),
  rule({ pattern: '*', args: { cwd: '/x' } }),
  rule({ pattern: 'anything', when: 'args.whatever == 1' }),
  { agents: { clerk: rule({ pattern: 'pay' }) } },
  { approval: { show: false } },
  { approval: { show: { '*': ['to', 'amount'] } } },
])('%j names what there is', (document) => expect(messages(document)).toEqual([]));
