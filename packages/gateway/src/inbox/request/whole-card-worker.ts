import { cardDigest, cardOf, chosenScope } from 'countersign/card';
import type { ApprovalDetails } from 'countersign/client';
import type { WholeCard } from './whole-card.ts';

self.addEventListener('message', ({ data: request }: MessageEvent<ApprovalDetails>) => {
  const card = cardOf(request, { all: true, always: chosenScope(request.always) });
  const answer: WholeCard = { card, digest: cardDigest(card) };
  self.postMessage(answer);
});
