import type { ApprovalDetails } from '../../contract.ts';
import { cardDigest } from '../../core/card/card-digest.ts';
import { cardOf } from '../../core/card/card-of.ts';
import { chosenScope } from '../../core/ledger/always-terms.ts';
import type { WholeCard } from './whole-card.ts';

self.addEventListener('message', ({ data: request }: MessageEvent<ApprovalDetails>) => {
  const card = cardOf(request, { all: true, always: chosenScope(request.always) });
  const answer: WholeCard = { card, digest: cardDigest(card) };
  self.postMessage(answer);
});
