import { Client, Connection } from '@temporalio/client';
import { bundledPath } from '../bundled-path.ts';
import { ProblemError } from '../core/problem.ts';
import { unreadReferences } from '../unread-references.ts';
import { type ServerOptions, connectionSettings } from './connection-settings.ts';
import { translateServerError, unreachable } from './server-error.ts';

/** Reads what a run or a stranger wrote without throwing: one bad memo must not hide the inbox (I5). */
const dataConverter = {
  payloadConverterPath: bundledPath('payload-converter'),
  externalStorage: unreadReferences,
};

export interface ConnectOptions extends ServerOptions {
  /** How long to wait for the server, in milliseconds. Default 4 seconds. */
  connectTimeoutMs?: number;
}

/** A connection with the names that sentences about it need. */
export interface Session {
  readonly connection: Connection;
  readonly client: Client;
  readonly address: string;
  readonly namespace: string;
}

/** Connects to the Temporal server; close `connection` when done. Throws `server_unreachable` in one sentence. */
export async function connect(options: ConnectOptions = {}): Promise<Session> {
  const { namespace, ...settings } = connectionSettings(options);
  const { address } = settings;
  let connection: Connection | undefined;
  try {
    connection = Connection.lazy({ ...settings, connectTimeout: options.connectTimeoutMs ?? 4_000 });
    await connection.ensureConnected();
    return openSession(connection, namespace, address);
  } catch (error) {
    await connection?.close(); // a channel left open tries for ever, and the process never ends
    if (error instanceof TypeError) {
      throw new ProblemError(
        {
          code: 'server_unreachable',
          message: `'${address}' is not an address: write HOST:PORT, such as 127.0.0.1:7233.`,
        },
        { cause: error },
      );
    }
    const problem = translateServerError(error, { address, namespace });
    throw problem.code === 'internal' ? unreachable(address, error) : problem;
  }
}

/** Puts our client on a connection that exists already. */
export function openSession(connection: Connection, namespace: string, address: string): Session {
  return { connection, client: new Client({ connection, namespace, dataConverter }), address, namespace };
}
