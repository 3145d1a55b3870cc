import { escapeText } from '../base/escape-text.ts';
import { shortened } from '../base/shortened.ts';
import type { Verdict } from './rule-again.ts';

const members = ['answer', 'rule', 'layer', 'severity', 'reason', 'grantId', 'to'] as const;

/** Names the first member in which the two differ, as one clause. */
export function differenceOf(recorded: Verdict, again: Verdict, withheld: readonly string[] = []): string | undefined {
  const isOther = (each: (typeof members)[number]): boolean => textOf(recorded[each]) !== textOf(again[each]);
  const member = members.find((each) => !withheld.includes(each) && isOther(each));
  if (member === undefined) return undefined;
  const what = member === 'to' ? 'reviewers' : member;
  return `by the recorded policies and call, its ${what} is ${textOf(again[member])}; the journal says ${textOf(recorded[member])}`;
}

const longestText = 120;

/** Text from elsewhere, on one line and of bounded length. */
function textOf(value: Verdict[(typeof members)[number]]): string {
  if (value === undefined) return 'none';
  if (typeof value === 'string') return `'${shortened(escapeText(value), longestText)}'`;
  return shortened(escapeText(JSON.stringify(value)), longestText);
}
