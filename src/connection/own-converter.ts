import type { DataConverter } from '@temporalio/common';
import { ProblemError } from '../core/base/problem.ts';
import { modulePath } from './module-path.ts';

/** In workflows and clients; and in a worker outside its workflows, where it also reads permits. */
const own = modulePath('workflows/sandbox/payload-converter');
const ownOfWorkers = modulePath('worker/payload-converter');

/**
 * Countersign's payload converter never throws while it reads: with another one, a signal could stop a run for ever,
 * and a memo could hide the inbox (I5a). Throws `internal` if `given` is another one.
 */
export function ownConverterPath(given: string | undefined): string {
  if (given === undefined || given === own || given === ownOfWorkers) return own;
  const message = `countersign needs its own payload converter: remove payloadConverterPath (${given}), or do its work in a payload codec.`;
  throw new ProblemError({ code: 'internal', message });
}

/** The data converter of a client. Its codecs and external storage stay. Throws for a converter of another author. */
export function withOwnConverter(given: DataConverter | undefined): DataConverter {
  return { ...given, payloadConverterPath: ownConverterPath(given?.payloadConverterPath) };
}

/** The data converter of a worker, with Countersign's payload converter. Throws for a converter of another author. */
export function withWorkerConverter(given: DataConverter | undefined): DataConverter {
  return { ...withOwnConverter(given), payloadConverterPath: ownOfWorkers };
}
