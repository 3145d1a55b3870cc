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

/** Makes the card of a request with all of its text. A worker makes it: a megabyte takes seconds. */
export function makeWholeCard(order: WholeCardOrder): Promise<WholeCard> {
  const worker = new Worker(new URL('./whole-card-worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<WholeCard>();
  worker.addEventListener('message', ({ data }: MessageEvent<WholeCard>) => resolve(data));
  worker.addEventListener('error', (event) => {
    if (event instanceof ErrorEvent) return reject(new Error(event.message));
    // The worker's file is missing: the gateway serves another version of the inbox, as in public/reload.js.
    location.reload();
  });
  worker.postMessage(order);
  return promise.finally(() => worker.terminate());
}
