import { visibleUnit } from '../../text/visible-text.ts';
import type { Card } from '../../card/card.ts';

/** What the call does, in one line of at most `most` characters. No escape is cut in two. */
export function sentenceOf({ sentence: { text, hidden = 0 } }: Card, most: number): string {
  if (text.length <= most && hidden === 0) return text;
  let shown = '';
  for (const unit of text.match(visibleUnit) ?? []) {
    if (shown.length + unit.length >= most) break;
    shown += unit;
  }
  return `${shown}…`;
}
