import { describe, expect, test } from 'vitest';
import { lintPolicy } from '../../src/policy-file/lint-policy.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';

function warnings(ask: string, approval = '{}', of: 'ceiling' | 'agent' | 'run' = 'ceiling'): string[] {
  const source = `rules: [{ id: r, pattern: pay, action: ask, ask: { ${ask} } }]\napproval: ${approval}`;
  const parsed = parsePolicy(source, { ceiling: of === 'ceiling' });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return lintPolicy(parsed.policy, { of }).map(({ message }) => message);
}

describe.each(['ceiling', 'agent', 'run'] as const)('a step behind the time-out, in the policy of the %s', (of) => {
  test.each<[string, string, string, string]>([
    [
      'a reminder',
      'remind: 15m',
      '{}',
      "rule r reminds after 15m, when its requests have ended: they wait 5m, so set a longer 'timeout'",
    ],
    [
      'an escalation',
      "escalate: [{ after: 2m, to: [bob] }, { after: 30m, to: ['group:cfo', eve] }]",
      '{}',
      "rule r asks group:cfo, eve after 30m, when its requests have ended: they wait 5m, so set a longer 'timeout'",
    ],
    [
      'one as late as the end',
      'remind: 1h, timeout: 1h',
      '{}',
      "rule r reminds after 1h, when its requests have ended: they wait 1h, so set a longer 'timeout'",
    ],
    [
      'by the time-out of the policy',
      'remind: 20m',
      '{ timeout: 10m }',
      "rule r reminds after 20m, when its requests have ended: they wait 10m, so set a longer 'timeout'",
    ],
    [
      'a warning before the opening',
      'warn_before: 10m, timeout: 5m',
      '{}',
      "rule r warns 10m before its requests end, which is as they are opened: they wait 5m, so set a longer 'timeout'",
    ],
    [
      'a quorum by people who are asked too late',
      'reviewers: [ann], quorum: 2, escalate: [{ after: 30m, to: [bob] }]',
      '{}',
      "rule r needs 2 approvals, and asks 1 person in time: they wait 5m, so set a longer 'timeout'",
    ],
    [
      'a quorum of one person, who is asked twice',
      'reviewers: [ann], quorum: 2, escalate: [{ after: 2m, to: [Ann] }, { after: 30m, to: [bob] }]',
      '{}',
      "rule r needs 2 approvals, and asks 1 person in time: they wait 5m, so set a longer 'timeout'",
    ],
  ])('%s', (_, ask, approval, sentence) => expect(warnings(ask, approval, of)).toContain(sentence));

  test.each<[string, string]>([
    ['remind: 2m', '{}'],
    ['remind: 15m, timeout: 1h, warn_before: 5m, escalate: [{ after: 30m, to: [bob] }]', '{}'],
    ['remind: 15m', '{ timeout: 1h }'],
    ['reviewers: [ann]', '{}'],
    ['reviewers: [ann], quorum: 2, escalate: [{ after: 2m, to: [bob] }]', '{}'],
  ])('none: %s %s', (ask, approval) => {
    expect(warnings(ask, approval, of).filter((each) => /so set a longer 'timeout'/.test(each))).toEqual([]);
  });
});

test('a group without a directory may have enough people', () => {
  const ask = "reviewers: ['group:finance'], quorum: 2, escalate: [{ after: 30m, to: [bob] }]";
  expect(warnings(ask).filter((each) => each.includes('approvals'))).toEqual([]);
});

test('where a request waits for ever, no step is late', () => {
  expect(warnings('remind: 30m, timeout: never', '{ max_timeout: never }')).toEqual([]);
});

test('a ceiling above may end requests before a step', () => {
  const read = (text: string, ceiling: boolean) => {
    const parsed = parsePolicy(text, { ceiling });
    if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
    return parsed.policy;
  };
  const policy = read(
    'rules: [{ id: r, pattern: pay, action: ask, ask: { timeout: 1h, escalate: [{ after: 30m, to: [bob] }] } }]',
    false,
  );
  const ceiling = read('approval: { max_timeout: 20m }', true);
  const messages = (more: object) => lintPolicy(policy, { of: 'agent', ...more }).map(({ message }) => message);
  expect(messages({})).toEqual([]);
  expect(messages({ ceiling })).toEqual([
    "rule r asks bob after 30m, when its requests have ended: they wait 20m, as the operator's policy demands",
  ]);
});
