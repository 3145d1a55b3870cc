import { describe, expect, test } from 'vitest';
import { lintPolicy } from '../../src/policy-file/lint-policy.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';

const problemOf = (when: string): string | undefined => {
  const parsed = parsePolicy({ rules: [{ pattern: 'a', when, action: 'deny' }] });
  return 'problems' in parsed ? parsed.problems[0]?.message : undefined;
};

describe('a condition that can only fail is refused when the policy is loaded', () => {
  test.each<[string, string]>([
    ['1', 'is a number, not true or false'],
    ['"true"', 'is a text, not true or false'],
    ['size(args.x)', 'is a number, not true or false'],
    ['[args.x]', 'is a list, not true or false'],
    ['args.x > 1 ? "a" : "b"', 'is a text, not true or false'],
    ['args.x.matches("(")', "has a regular expression that RE2 does not accept: '('"],
    ['args.list.exists(x, x.matches("(?=a)"))', 'has a regular expression that RE2 does not accept'],
    ['args.x && "yes"', 'joins or negates a text, not what is true or false'],
    ['!size(args.x)', 'joins or negates a number'],
    ['tool > 5', 'orders a text and a number'],
    ['args.x < [1]', 'orders a list'],
    ['5.startsWith("5")', 'calls startsWith on or with a number, not a text'],
    ['args.x.contains(5)', 'calls contains on or with a number, not a text'],
    ['"5" - args.x == 1', 'calculates with a text, not a number'],
    ['double(true) > 1.0', 'turns a true or false into a number'],
  ])('%s', (when, problem) => expect(problemOf(when)).toContain(problem));

  test.each([
    'args.x',
    'args.x > 1 && args.x < 2.5',
    'args.list.all(x, x.startsWith("a"))',
    'args.x.matches(args.y)',
    'has(args.x) ? args.x : true',
    '[1] + args.list == [1, 2]',
    'args.x - 1 > counts.calls',
    'tool == "a" || caller == null',
    'args.text.lowerAscii().matches("^a{2}$")',
    '"a" < args.x',
    'int("5") == 5 && string(5) == "5"',
    'args["x"] in {"a": 1}',
  ])('%s is accepted', (when) => expect(problemOf(when)).toBeUndefined());
});

describe('a comparison by which a value of another type gets past', () => {
  const messages = (when: string, action: string): string[] => {
    const parsed = parsePolicy({ rules: [{ id: 'r', pattern: 'a', when, action }] });
    if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
    return lintPolicy(parsed.policy).map(({ message }) => message);
  };
  test.each<[string, string, string | undefined]>([
    [
      'has(args.force) && args.force == true',
      'deny',
      "rule r passes over a 'force' that is no true or false, such as a text",
    ],
    ['has(args.n) && 5 == args.n', 'ask', "rule r passes over a 'n' that is no number"],
    [
      'args.branch != "main"',
      'allow',
      "rule r allows a 'branch' that is no text, because it is unequal: test args.branch.matches(…) too",
    ],
    ['tool == 5', 'ask', 'rule r compares a text and a number with ==, and they are never equal'],
    ['has(args.to) && args.to == "eve"', 'deny', undefined],
    ['args.branch == "main"', 'allow', undefined],
    ['args.force != true', 'ask', undefined],
    ['caller == null', 'deny', undefined],
    ['tool != "x"', 'allow', undefined],
  ])('%s, %s: %s', (when, action, message) => {
    expect(messages(when, action)).toEqual(message === undefined ? [] : [expect.stringContaining(message)]);
  });
});
