import type { DataConverter } from '@temporalio/common';
import { ProblemError } from '../core/base/problem.ts';
import { bundledPath } from './bundled-path.ts';

/**
 * The path of our payload converter. It never throws while it reads: with another one, a single signal could stop a run
 * for ever, and a single memo could hide the inbox (I5a). Throws `internal` with one sentence if `given` is another one.
 */
export function ownConverterPath(given: string | undefined): string {
  const own = bundledPath('sandbox/payload-converter');
  if (given === undefined || given === own) return own;
  throw new ProblemError({
    code: 'internal',
    message: `countersign needs its own payload converter: remove payloadConverterPath (${given}), or do its work in a payload codec.`,
  });
}

/** The data converter with our payload converter; its codecs and its external storage stay. Throws as above. */
export function withOwnConverter(given: DataConverter | undefined): DataConverter {
  return { ...given, payloadConverterPath: ownConverterPath(given?.payloadConverterPath) };
}
