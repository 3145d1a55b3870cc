import type { DataConverter } from '@temporalio/common';
import { ProblemError } from '../core/base/problem.ts';
import { modulePath } from './module-path.ts';

/** Workflows and clients load `own`; a worker outside its workflows loads `ownOfWorkers`, which reads permits. */
const own = modulePath('workflows/sandbox/payload-converter');
const ownOfWorkers = modulePath('worker/payload-converter');

/**
 * Returns the path of Countersign's payload converter, which never throws while it reads: with another one, a signal
 * could stop a run for ever, or a memo could hide the inbox (I5a). Throws `internal` if `given` is another one.
 */
export function ownConverterPath(given: string | undefined): string {
  if (given === undefined || given === own || given === ownOfWorkers) return own;
  const message = `countersign needs its own payload converter: remove payloadConverterPath (${given}), or do its work in a payload codec.`;
  throw new ProblemError({ code: 'internal', message });
}

/** Returns the data converter of a client, with its codecs and storage. Throws if its payload converter is foreign. */
export function withOwnConverter(given: DataConverter | undefined): DataConverter {
  return { ...given, payloadConverterPath: ownConverterPath(given?.payloadConverterPath) };
}

/** Returns the data converter of a worker, with Countersign's payload converter. Throws for another converter. */
export function withWorkerConverter(given: DataConverter | undefined): DataConverter {
  return { ...withOwnConverter(given), payloadConverterPath: ownOfWorkers };
}
