import { inlineLimits, type SizeLimits } from '../core/base/size-limits.ts';
import { startOfText } from './check-calls.ts';
import type { ModelCall } from './model-turn.ts';

export interface CallBounds {
  limits: SizeLimits;
  /** Bytes of the turn without its calls. */
  besideBytes: number;
  /** Payloads of at least this many bytes travel by reference; absent: all travel inline. */
  thresholdBytes?: number;
}

/** A call whose arguments travel by reference adds this many bytes to the message that starts its tool. */
const referenceBytes = 1_000;
/** Bytes that a refused call may take in the turn, and characters of its arguments that it keeps to fit into them. */
const refusedBytes = 1_600;
const refusedCharacters = 200;

/**
 * Refuses, with a sentence for the model, the calls that would make their turn too large to travel; earlier calls
 * stand. Nothing is truncated: a call runs with all its arguments or not at all. Two sums are limited: the whole turn,
 * which is one payload, and what travels inline, because one message to the server, which takes 4 MB, may start all
 * tools of a turn.
 */
export function boundCalls(
  calls: readonly ModelCall[],
  { limits, besideBytes, thresholdBytes = Infinity }: CallBounds,
): ModelCall[] {
  let turnBytes = besideBytes;
  let wholeBytes = 0;
  return calls.map((call, index) => {
    // Reserve room for refusing each of the following calls.
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
