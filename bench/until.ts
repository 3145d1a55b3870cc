import { eventually } from '../test/support/eventually.ts';

/** Calls `probe` until it returns a value and returns that value. Throws after one minute. */
export function until<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  return eventually(what, probe, 60_000);
}
