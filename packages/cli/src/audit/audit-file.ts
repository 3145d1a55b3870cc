import { createReadStream } from 'node:fs';
import { byteLines, type Line } from '../base/byte-lines.ts';
import { readFault } from '../base/read-fault.ts';
import { UsageError } from '../base/report-error.ts';

/** The lines of an export, one after another. */
export async function* auditFile(file: string): AsyncGenerator<Line> {
  try {
    yield* byteLines(createReadStream(file));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${readFault(error)}.`);
  }
}
