import { byteLength } from '../base/text.ts';
import type { JsonObject } from '../base/tool-call.ts';
import type { RulingContext } from '../policy/ruling.ts';

/** The user for whom a run works, as its starter gives them. */
export interface RunContext {
  caller?: NonNullable<RulingContext['caller']>;
  metadata?: JsonObject;
}

/** As much of it as evidence has. */
export interface EvidenceContext extends RunContext {
  /** What no history keeps. A ruling by policies that read it is not made again. */
  unknown?: ('caller' | 'metadata')[];
}

/** Limit for metadata, in bytes of JSON: that of an agent run's input. */
const maxMetadataBytes = 4_000;

/**
 * What a custom workflow says of its caller, for its history: the gate rules by it, and only the workflow's code knows
 * it. It is the last argument of an activity that is scheduled anyway, which checks its shape at most.
 */
export interface ContextCarrier {
  context: EvidenceContext;
}

/** Leaves out metadata that is large or not JSON, and says so. */
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
