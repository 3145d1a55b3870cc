import type { Receipt } from '../core/approval.ts';
import { sameTerms } from '../core/ask-terms.ts';
import { openedAtMs } from '../core/ladder.ts';
import { findRequest, type BookedRequest } from '../core/ledger.ts';
import { reviewersOf, whyAsked } from './book-request.ts';
import type { Book } from './book.ts';
import type { RulesInForce } from './rules-in-force.ts';

/** Every request that was open at `atMs` once more, under rules that have changed; says which that settled (I14). */
export function reconsider(book: Book, rules: RulesInForce, atMs: number): NonNullable<Receipt['settled']> {
  const waiting = book.ledger.open.filter(({ deadlineMs }) => deadlineMs === null || atMs <= deadlineMs);
  for (const booked of waiting) reconsiderOne(book, rules, booked, atMs);
  return waiting.flatMap(({ request: { requestId } }) => {
    const found = findRequest(book.ledger, requestId);
    return found !== undefined && 'settlement' in found ? [{ requestId, outcome: found.settlement.outcome }] : [];
  });
}

function reconsiderOne(book: Book, rules: RulesInForce, booked: BookedRequest, atMs: number): void {
  const { request, ruled, terms: before } = booked;
  const { requestId, toolName: tool, arguments: args, riskLevel: risk, digest } = request;
  const { assessment: assessed, subject, shell } = ruled;
  const call = {
    tool,
    args,
    risk,
    digest,
    assessed,
    ...(subject !== undefined && { subject }),
    ...(shell && { shell }),
  };
  const { ruling, terms, assessment } = rules.rule(call, book.ledger, atMs);
  if (ruling.action !== 'ask') {
    book.apply({ kind: 'supersede', atMs, requestId, runs: ruling.action === 'allow', ruling });
    return;
  }
  if (sameTerms(before, terms) && request.rule === ruling.rule) return;
  const { rule } = ruling;
  const reason = whyAsked(ruling, risk);
  const reviewers = reviewersOf(terms, atMs - openedAtMs({ request }));
  book.apply({ kind: 'reterm', atMs, requestId, terms, request: { rule, reason, reviewers, assessment } });
}
