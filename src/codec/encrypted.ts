import type { DataConverter } from '@temporalio/common';
import { modulePath } from '../connection/module-path.ts';
import { EncryptionCodec, type EncryptionCodecOptions } from './encryption-codec.ts';

/**
 * The data converter of an encrypted namespace: `EncryptionCodec`, and a failure converter that lets it encrypt the
 * messages of failures too. Give it to workers and clients alike. Throws as `EncryptionCodec` does.
 *
 * @example
 * ```ts
 * import { randomBytes } from 'node:crypto';
 * import { createClient } from 'countersign/client';
 * import { encrypted } from 'countersign/codec';
 *
 * const dataConverter = encrypted({ keys: [{ id: '2030-01', key: randomBytes(32) }] });
 * const client = await createClient({ dataConverter });
 * const [server] = await client.check();
 * console.log(server?.isOk); // true
 * await client.close();
 * ```
 */
export function encrypted(options: EncryptionCodecOptions = {}): DataConverter {
  return {
    payloadCodecs: [new EncryptionCodec(options)],
    failureConverterPath: modulePath('workflows/sandbox/failure-converter'),
  };
}
