import type { DataConverter } from '@temporalio/common';
import { ProblemError } from '../core/base/problem.ts';
import { modulePath } from './module-path.ts';

/** The converter of workflows and clients. */
const own = modulePath('workflows/sandbox/payload-converter');
/** The converter of a worker outside its workflows, where activities get the permits of their calls. */
const ownOfWorkers = modulePath('worker/payload-converter');

/**
 * Returns the path of Countersign's payload converter. Throws `internal` if `given` is the path of another converter:
 * it could throw for an unreadable payload, and one such signal would stop a run for ever (I5a in docs/internals.md).
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
