import { cardDigest, cardOf, chosenScope } from 'countersign/card';
import type { WholeCard, WholeCardOrder } from './whole-card.ts';

self.addEventListener('message', ({ data: { request, sentence } }: MessageEvent<WholeCardOrder>) => {
  const made = cardOf(request, { all: true, always: chosenScope(request.always) });
  const card = sentence === undefined ? made : { ...made, sentence: { text: sentence, by: 'card' as const } };
  const answer: WholeCard = { card, digest: cardDigest(card) };
  self.postMessage(answer);
});
