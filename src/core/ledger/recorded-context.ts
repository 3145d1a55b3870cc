import { byteLength } from '../base/text.ts';
import type { JsonObject } from '../base/tool-call.ts';
import type { RulingContext } from '../policy/ruling.ts';

/** The user for whom a run works, as its starter gives them. */
export interface RunContext {
  caller?: NonNullable<RulingContext['caller']>;
  metadata?: JsonObject;
}

/** The context of a run, as far as evidence has it. */
export interface EvidenceContext extends RunContext {
  /** The members that no history keeps. An audit repeats no ruling by a policy that reads one of these. */
  unknown?: ('caller' | 'metadata')[];
}

/** The limit for metadata, in bytes of JSON. It is the same as for the input of an agent run. */
const maxMetadataBytes = 4_000;

/** Records the context of a custom workflow in history, as the last argument of an activity that runs anyway. */
export interface ContextCarrier {
  context: EvidenceContext;
}

/** The context, without metadata that is too large or not JSON: `unknown` then lists `metadata`. */
export function recordedContext({ caller, metadata }: RunContext): EvidenceContext {
  const isKept = metadata === undefined || (sizeOf(metadata) ?? Infinity) <= maxMetadataBytes;
  return {
    ...(caller !== undefined && { caller }),
    ...(isKept ? metadata !== undefined && { metadata } : { unknown: ['metadata'] }),
  };
}

function sizeOf(value: unknown): number | undefined {
  try {
    return byteLength(JSON.stringify(value));
  } catch {
    return undefined;
  }
}
