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
    ['severity < "medium"', 'orders severity by its letters: write severity in ["safe", "low"]'],
    ['severity >= "high"', 'orders severity by its letters: write severity in ["high", "critical"]'],
    ['"high" <= severity', 'orders severity by its letters: write severity in ["high", "critical"]'],
    [
      'args.x == 1 && !(risk >= "write")',
      'orders risk by its letters: write risk in ["write", "destructive", "unknown"]',
    ],
    ['severity > args.x', 'orders severity by its letters'],
    [
      'severity == "severe"',
      "compares severity with 'severe', which it never is: its values are safe, low, medium, high, critical",
    ],
    [
      '"High" == severity',
      "compares severity with 'High', which it never is: its values are safe, low, medium, high, critical",
    ],
    [
      'severity in ["high", "High"]',
      "compares severity with 'High', which it never is: its values are safe, low, medium, high, critical",
    ],
    [
      'risk != "destroy"',
      "compares risk with 'destroy', which it never is: its values are read_only, write, destructive, unknown",
    ],
    ['5.startsWith("5")', 'calls startsWith on or with a number, not a text'],
    ['args.x.contains(5)', 'calls contains on or with a number, not a text'],
    ['"5" - args.x == 1', 'calculates with a text, not a number'],
    ['double(true) > 1.0', 'turns a true or false into a number'],
    ['args > 5', 'orders a map: name what it holds, as in args.amount'],
    ['metadata <= "a"', 'orders a map: name what it holds, as in metadata.amount'],
    ['counts > 3', 'orders a map: write counts.calls, or another of them'],
    ['caller >= "ann"', 'orders a map: compare caller.userId'],
    ['has(args.x) && args > 5', 'orders a map'],
    ['size(5) > 1', 'measures a number: texts, lists and maps have a size'],
    ['size(counts.calls) > 1', 'measures a number'],
    ['counts.calls > "5"', 'orders a number and a text: write 5 without quotes'],
    ['counts.calls > "many"', 'orders a number and a text: compare a number with a number'],
    ['counts.call > 5', "reads 'call', and there is no such member; did you mean 'calls'?"],
    ['counts["call"] > 5', 'reads a member of a map by a text'],
    ['caller.name == "ann"', "reads 'name', and there is no such member: there are userId, groups"],
    ['caller.userId > 5', 'orders a text and a number: write "5" in quotes'],
    ['caller.groups > "a"', 'orders a list'],
    ['caller.groups.exists(g, g > 5)', 'orders a text and a number: write "5" in quotes'],
    ['caller.groups.contains("a")', 'calls contains on or with a list, not a text'],
    ['"a" in caller.userId', 'looks into a text, not into a list'],
    ['tool.name == "a"', "reads 'name' of a text"],
    ['tool.exists(x, x == "a")', 'looks at each element of a text, not of a list'],
    ['tool[0] == "a"', 'reads a member of a text by a number'],
    ['int("0x10") > 1', "turns '0x10' into a number, and it is none: write 16"],
    ['double("20,000") < args.x', "turns '20,000' into a number, and it is none: write 20000"],
    ['int("ten") == args.x', "turns 'ten' into a number, and it is none"],
    ['args.x % 2 == 0', 'takes the remainder of a number of the call, which counts as decimal: write int(…) around it'],
    ['tool + 5 == "a5"', 'adds a text and a number'],
    ['args.list.exists(x, args > 5)', 'orders a map'],
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
    'counts.calls > 5 && counts.irreversible + 1.0 < args.x',
    'caller != null && (caller.userId == "ann" || "ops" in caller.groups)',
    'caller.groups.exists(g, g > "m")',
    'metadata.team.members[0] == args.x',
    'size(args) > 1 && size(args.x) > 1 && args.x.size() > 1',
    'int(args.x) % 2 == 0',
    'int("10") > 1 && double("-1.5e3") < args.x',
    'args.x > 5 || args.x == "5"',
    'agent > "a"',
    'args.list.all(risk, risk < "m" && risk != "odd")',
    'severity in ["high", "critical"] || risk == args.x',
    'has(counts.calls)',
    'args.exists(name, name == "force")',
    '(has(args.x) ? args.x : 5) > 1',
    'sum("pay", "amount") + args.x > 5.0',
    'args.x > 0 && args.x < 10 && args.list.all(x, x > 1)',
  ])('%s is accepted', (when) => expect(problemOf(when)).toBeUndefined());
});

describe('a part that can only fail in a condition that may hold is warned about', () => {
  test.each([
    ['args.x == "a" || args > 5', 'rule r orders a map: name what it holds, as in args.amount'],
    ['args.list.all(x, size(5) > 1)', 'rule r measures a number: texts, lists and maps have a size'],
    ['has(args.x) ? counts.calls > "5" : true', 'rule r orders a number and a text: write 5 without quotes'],
    ['args.x < double("1e400")', 'rule r has a number that is larger than any: write it out'],
    ['1 > 2 && args.x', 'rule r holds for no call'],
    ['args.x < 1e400', 'rule r has a number that is larger than any: write it out'],
  ])('%s', (when, message) => {
    const parsed = parsePolicy({ rules: [{ id: 'r', pattern: 'a', when, action: 'allow' }] });
    expect('policy' in parsed && lintPolicy(parsed.policy).map((warning) => warning.message)).toEqual([message]);
  });
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
    ['counts.calls == "5"', 'ask', 'rule r compares a number and a text with ==, and they are never equal'],
    ['args.branch == "main"', 'allow', undefined],
    ['has(args.force) && args.force != true', 'ask', undefined],
    ['caller == null', 'deny', undefined],
    ['caller != null && caller.userId == 5', 'ask', 'rule r compares a text and a number with =='],
    ['tool != "x"', 'allow', undefined],
  ])('%s, %s: %s', (when, action, message) => {
    expect(messages(when, action)).toEqual(message === undefined ? [] : [expect.stringContaining(message)]);
  });
});
