import type { Verdict } from '../agents/definitions.ts';
import { aborted } from '../text/aborted.ts';
import { oneSentence } from '../text/one-sentence.ts';

const longestMs = 30_000;

/** Undefined: the check lets it pass. `failed`: the check gave no verdict, and why. */
export type CheckEnd = { refused: string } | { failed: string } | undefined;

/**
 * Runs a check of an agent's or a tool's author, for at most 30 seconds. Never throws: only undefined lets what is checked
 * pass. `cancellation`: aborts the check earlier.
 */
export async function runCheck(
  check: (signal: AbortSignal) => Verdict,
  cancellation: AbortSignal,
  timeoutMs = longestMs,
): Promise<CheckEnd> {
  const signal = AbortSignal.any([cancellation, AbortSignal.timeout(timeoutMs)]);
  try {
    const checking = Promise.resolve().then(() => check(signal));
    const verdict: unknown = await Promise.race([checking, aborted(signal)]);
    if (verdict === undefined) return undefined;
    if (typeof verdict === 'string') return { refused: oneSentence(verdict) || 'no reason given' };
    return { failed: 'the check gave neither a text nor undefined' };
  } catch (error) {
    if (cancellation.aborted) return { failed: 'the check was cut off' };
    if (signal.aborted) return { failed: `the check took longer than ${timeoutMs} ms` };
    // Only the type: a message may hold what was checked, which must not be written to history (I13).
    return { failed: oneSentence(`the check failed: ${error instanceof Error ? error.name : typeof error}`) };
  }
}
