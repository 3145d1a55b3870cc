import { pressedScope } from '../core/ledger/make-grant.ts';
import type { RequestedScope } from '../core/messages/decision.ts';
import { cardOf } from './card-of.ts';
import type { Card } from './card.ts';
import type { CardRequest } from './card-request.ts';

/** The whole card for a terminal that reads one line, and what its `A` grants, as the card says; absent: `A` is not offered. */
export function lineCard(request: CardRequest, nowMs: number): { card: Card; always?: RequestedScope } {
  const pressed = request.always && pressedScope(request.always);
  const card = cardOf(request, { all: true, always: pressed?.kind ?? false, nowMs });
  const isOffered = card.answers.some(({ name }) => name === 'always');
  return { card, ...(isOffered && pressed !== undefined && { always: pressed }) };
}

/** Why such a terminal does not offer "always". */
export function noAlways({ always }: Pick<CardRequest, 'always'>): string {
  return always === undefined
    ? 'The rule that asks admits no "always".'
    : 'Not all is shown here, so "always" is not offered.';
}
