import type { Card } from 'countersign/card';
import type { ApprovalDetails } from 'countersign/client';

export interface WholeCard {
  card: Card;
  digest: string;
}

export interface WholeCardOrder {
  request: ApprovalDetails;
  sentence?: string;
}

/** Makes the card of a request with all of its text, in a web worker, because a megabyte of text takes seconds. */
export function makeWholeCard(order: WholeCardOrder): Promise<WholeCard> {
  const worker = new Worker(new URL('./whole-card-worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<WholeCard>();
  worker.addEventListener('message', ({ data }: MessageEvent<WholeCard>) => resolve(data));
  worker.addEventListener('error', (event) => {
    if (event instanceof ErrorEvent) return reject(new Error(event.message));
    // A missing file means that the gateway has another version of the inbox now, as public/reload.js says.
    location.reload();
  });
  worker.postMessage(order);
  return promise.finally(() => worker.terminate());
}
