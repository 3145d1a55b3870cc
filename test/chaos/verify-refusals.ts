import type { RunBook } from './run-book.ts';
import type { SentItem } from './sent-item.ts';
import { vainControls } from './verify-controls.ts';
import { isCounted } from './verify-votes.ts';
import { isGood, winners } from './winners.ts';

/** Every recorded message without effect, decision or control, must be among the refusals that the run counted. */
export function badOnesAreCounted(book: RunBook): string[] {
  const { status, sent, ledger, unread, projection } = book;
  if (status === 'TERMINATED' || unread !== undefined) return [];
  const byId = new Map(projection.requests.map((request) => [request.requestId, request]));
  const isVain = (each: SentItem): boolean => {
    const request = byId.get(each.requestId);
    if (!isGood(each) || request === undefined) return true;
    return book.plan.votes === undefined ? !winners(book, request).includes(each) : !isCounted(book, each);
  };
  const bad = sent.filter((each) => each.answer.kind === 'recorded' && isVain(each)).length;
  const vain = vainControls(book).length;
  return ledger.refused >= bad + vain
    ? []
    : [`${bad} bad or late decisions and ${vain} such controls were recorded, the run counted ${ledger.refused}`];
}
