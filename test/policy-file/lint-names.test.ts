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
  advisors: ['triage'],
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
    rule({ pattern: 'pay', when: "sum('pai', 'amount') > 5.0" }),
    "rule ceiling#1 adds up 'amount' of 'pai', and there is no such tool; did you mean 'pay'?",
  ],
  [
    rule({ pattern: 'pay', when: "sum('pay', 'amuont') > 5.0" }),
    "rule ceiling#1 names argument 'amuont', which 'pay' has not; did you mean 'amount'?",
  ],
  [
    { agents: { clark: rule({ pattern: 'pay' }) } },
    "rule ceiling.clark#1 is for agent 'clark', and there is none of that name; did you mean 'clerk'?",
  ],
  [
    { approval: { show: { pai: ['amount'] } } },
    "'approval.show' has 'pai', and there is no such tool; did you mean 'pay'?",
  ],
  [
    { advisor: { name: 'triag' } },
    "'advisor' names advisor 'triag', which the worker does not have; did you mean 'triage'?",
  ],
  [
    { rules: [{ pattern: 'pay', action: 'ask', ask: { advisor: { name: 'judge' } } }] },
    "rule ceiling#1 names advisor 'judge', which the worker does not have",
  ],
  [{ approval: { show: { pay: ['sum'] } } }, "'approval.show' names argument 'sum', which 'pay' has not"],
])('%j', (document, message) => expect(messages(document)).toEqual([message]));

test.each<object>([
  rule({ pattern: '*' }),
  rule({ pattern: 'send_*', args: { to: '*@evil.example' } }),
  rule({ pattern: '*', args: { cwd: '/x' } }),
  rule({ pattern: 'anything', when: 'args.whatever == 1' }),
  rule({ pattern: '*', when: "sum('pay', 'amount') > 5.0 && sum('anything', 'x') > 1.0" }),
  { agents: { clerk: rule({ pattern: 'pay' }) } },
  { approval: { show: false } },
  { advisor: { name: 'triage' } },
  { approval: { show: { '*': ['to', 'amount'] } } },
])('%j names what there is', (document) => expect(messages(document)).toEqual([]));

test.each(['files__*', 'files__read', 'fil*', 'files__write:*'])(
  'a worker that has a toolset may have a tool for %j, and for no other pattern',
  (pattern) => {
    const lint = (document: object): string[] => {
      const parsed = parsePolicy(document, { ceiling: true });
      if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
      return lintNames(parsed.policy, 'ceiling', { ...known, prefixes: ['files__'] }).map(({ message }) => message);
    };
    expect(lint(rule({ pattern }))).toEqual([]);
    expect(lint({ approval: { show: { files__read: ['path'] } } })).toEqual([]);
    expect(lint(rule({ pattern: 'file_read' }))).toHaveLength(1);
    expect(lint(rule({ pattern: 'pay', when: "sum('files__pay', 'amount') > 5.0" }))).toEqual([]);
  },
);
