import { inlineLimits, type SizeLimits } from '../core/base/size-limits.ts';
import { startOfText } from './check-calls.ts';
import type { ModelCall } from './model-turn.ts';

export interface CallBounds {
  limits: SizeLimits;
  /** Bytes that the turn holds beside its calls. */
  besideBytes: number;
  /** Payloads of at least so many bytes travel by reference; absent: all travel whole. */
  thresholdBytes?: number;
}

/** What a call costs the message that starts its tool, where its arguments travel by reference. */
const referenceBytes = 1_000;
/** What a refused call may take in the turn, and how much of its arguments it keeps to stay below. */
const refusedBytes = 1_600;
const refusedCharacters = 200;

/**
 * Refuses, in a sentence for the model, the calls of a turn that would make it too large to travel; those before them
 * stand. Nothing is cut: a call runs with all its arguments or not at all. Two sums are kept: the whole turn, which is
 * one payload, and what travels whole, since all tools of a turn may be started by one message to the server, which
 * takes 4 MB.
 */
export function boundCalls(
  calls: readonly ModelCall[],
  { limits, besideBytes, thresholdBytes = Infinity }: CallBounds,
): ModelCall[] {
  let turnBytes = besideBytes;
  let wholeBytes = 0;
  return calls.map((call, index) => {
    // Room for each call that follows to be refused in.
    const mostBytes = limits.turnBytes - (calls.length - 1 - index) * refusedBytes;
    const bytes = Buffer.byteLength(JSON.stringify(call));
    const travels = bytes < thresholdBytes ? bytes : referenceBytes;
    const most =
      turnBytes + bytes > mostBytes
        ? limits.turnBytes
        : wholeBytes + travels > inlineLimits.turnBytes
          ? inlineLimits.turnBytes
          : undefined;
    turnBytes += most === undefined ? bytes : refusedBytes;
    wholeBytes += most === undefined ? travels : 0;
    return most === undefined ? call : refused(call, most);
  });
}

function refused({ id, tool, args, raw }: ModelCall, most: number): ModelCall {
  const written = args ?? raw ?? {};
  const bytes = Buffer.byteLength(JSON.stringify(written));
  return {
    id,
    tool,
    raw: startOfText(written, refusedCharacters),
    problem: `Error: arguments: ${bytes} bytes, and with the calls before it more than the ${most} of one turn; make fewer or smaller calls at a time`,
  };
}
