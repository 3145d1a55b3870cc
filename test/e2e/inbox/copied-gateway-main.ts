/**
 * Serves the inbox of a copy of the gateway: the module `process.argv[2]`. Prints `ready`, its address, and each line of
 * its log.
 */
import { createClient } from '../../../src/client/client.ts';
import type * as Gateway from '../../../packages/gateway/src/index.ts';

const { startGateway } = (await import(process.argv[2]!)) as typeof Gateway;
const client = await createClient({ connectTimeoutMs: 200_000 });
const { url } = await startGateway({ client, port: 0, log: (line) => process.stdout.write(`${line}\n`) });
process.stdout.write(`ready ${url}\n`);
