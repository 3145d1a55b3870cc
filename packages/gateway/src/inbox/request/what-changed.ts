import { type Json, visibleJsonText, visibleText } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { changedValues } from '../form/read-form.ts';
import { whoCanAnswer } from './who-answers.ts';

const [longestValue, mostValues] = [80, 3];

/** The parts of a request that a reviewer reads before a decision, each with its name for `whatChanged`. */
const parts: readonly [name: string, read: (request: ApprovalDetails) => unknown][] = [
  ['what the call would change', ({ preview }) => preview],
  ['what the user wrote', ({ userMessages }) => userMessages],
  ['the severity', ({ assessment }) => assessment],
  ['why you are asked', ({ rule, reason, advice }) => [rule, reason, advice]],
  ['earlier calls like it', ({ ranBefore, deniedBefore }) => [ranBefore, deniedBefore]],
  ['the sentence about the call', ({ sentence, contextSummary }) => [sentence, contextSummary]],
  ['what is hidden from you', ({ shown, redacted }) => [shown, redacted]],
];

/** Lists what has changed, such as `amount 6 → 600, what the user wrote`; otherwise, the tool's definition has. */
export function whatChanged(before: ApprovalDetails, after: ApprovalDetails): string {
  const values = valueChanges(before.arguments, after.arguments);
  const [from, to] = [whoCanAnswer(before), whoCanAnswer(after)];
  const changed = [
    ...values.slice(0, mostValues),
    ...(values.length > mostValues ? [`${values.length - mostValues} more arguments`] : []),
    ...parts.filter(([, read]) => JSON.stringify(read(before)) !== JSON.stringify(read(after))).map(([name]) => name),
    ...(from !== to && from !== undefined && to !== undefined ? [visibleText(`reviewers ${from} → ${to}`)] : []),
  ];
  return changed.length === 0 ? 'the tool' : changed.join(', ');
}

/** Lists the changed values of arguments, such as `amount 89 → 50`. Escapes show invisible characters. */
export function valueChanges(before: Json, after: Json): string[] {
  return changedValues(before, after).map(
    (each) => `${visibleText(bounded(each.place))} ${valueText(each.before)} → ${valueText(each.after)}`,
  );
}

function valueText(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string' && value !== '') return visibleText(bounded(value));
  return visibleJsonText(bounded(JSON.stringify(value)));
}

function bounded(text: string): string {
  return text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}…` : text;
}
