import { createStore } from '../state/store.ts';

/** By how many milliseconds the server's clock is ahead of this one. */
export const clockOffset = createStore(0);

/** Takes the time of an answer. Its header has whole seconds, so smaller differences mean nothing. */
export function noteServerTime(date: string | null): void {
  const serverMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serverMs)) return;
  const offset = serverMs + 500 - Date.now();
  if (Math.abs(offset - clockOffset.get()) >= 1_000) clockOffset.set(Math.abs(offset) < 1_000 ? 0 : offset);
}

/** The time by the server's clock: deadlines are instants of that one. */
export function serverNowMs(): number {
  return Date.now() + clockOffset.get();
}
