/** The words of a card that all channels share. */
import type { AnswerName, Card, CardChange, CardField } from './card.ts';
import { countedNoun } from './cut-text.ts';

export const headings = {
  arguments: 'Arguments',
  notShown: 'Not shown',
  changes: 'What would change',
  why: 'Why you are asked',
  who: 'Who and what runs it',
  words: 'Words of the model or its user (nobody checked them)',
  time: 'Time',
  settled: 'How it was settled',
  answers: 'What each answer does',
  raw: 'The raw call',
} as const;

export const answerLabels: Record<AnswerName, string> = {
  approve: 'Approve',
  deny: 'Deny',
  always: 'Always',
  edit: 'Edit',
  respond: 'Respond',
  nobody: 'Nobody answers',
};

/** A field's title and name, such as `Recipient (to)`. */
export function fieldLabel({ title, name }: CardField): string {
  return saysName(title, name) ? (title ?? name) : `${title} (${name})`;
}

/** True if there is no title, or one that is the name with other capitals. */
export function saysName(title: string | undefined, name: string): boolean {
  return title === undefined || title.toLowerCase() === name.toLowerCase();
}

/** What kind of value it is, and what it means: `money: 120.00 EUR`. Empty for plain values. */
export function fieldNote({ name, format, reading }: CardField): string {
  const isPlain = ['text', 'number', 'flag', 'json'].includes(format) || name.toLowerCase().includes(format);
  return [...(isPlain ? [] : [format]), ...(reading === undefined ? [] : [reading])].join(': ');
}

/** For a request without arguments. */
export function argumentsNote({ arguments: fields, notShown }: Card): string {
  return fields.length === 0 && notShown.length === 0 ? 'none' : '';
}

/** What stands above a change, such as `config.yaml changes: 3 lines added, 1 line removed`. */
export function changeTitle(change: CardChange): string {
  if (change.kind === 'table') return `${change.name}: ${change.totals.join('; ') || 'no rows'}`;
  const { name, what, added, removed } = change;
  const counts = [
    ...(added === 0 ? [] : [`${countedNoun(added, 'line')} added`]),
    ...(removed === 0 ? [] : [`${countedNoun(removed, 'line')} removed`]),
  ];
  return `${name} ${what}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`;
}

/** What is left out below a change; empty if nothing is. */
export function changeRest(change: CardChange): string {
  const [hidden, noun] = change.kind === 'table' ? [change.hiddenRows, 'row'] : [change.hiddenLines, 'line'];
  return hidden === 0 ? '' : `${countedNoun(hidden, `more ${noun}`)} hidden`;
}

export const diffMarks = { same: ' ', removed: '-', added: '+', place: '' } as const;

/** The states of a preview without changes. */
export function previewNote({ preview }: Card): { text: string; message?: string } | undefined {
  if (preview === undefined) return undefined;
  if (preview.state === 'pending') return { text: 'The tool is still working out what would change.' };
  if (preview.state === 'failed') {
    return { text: 'The tool could not say what would change:', message: preview.message.text };
  }
  return preview.changes.length === 0 ? { text: 'The tool says that nothing would change.' } : undefined;
}

export function timeNote({ time: { requestedAt, deadline, left } }: Card): string {
  const asked = requestedAt === '' ? '' : `asked at ${requestedAt}`;
  if (deadline === null) return ['no deadline', asked].filter((each) => each !== '').join(', ');
  const until =
    left === undefined ? `until ${deadline}` : `${left === 'passed' ? 'passed' : `${left} left`}: until ${deadline}`;
  return asked === '' ? until : `${until}, ${asked}`;
}
