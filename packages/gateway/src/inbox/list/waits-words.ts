import type { WaitsFor } from '../../http/inbox/api.ts';

/** For whom a request waits, as the inbox says it. */
export const waitsWords: Readonly<Record<WaitsFor, string>> = {
  you: 'waits for you',
  anyone: 'waits for anyone',
  others: 'waits for others',
  unknown: 'no worker has answered yet',
};
