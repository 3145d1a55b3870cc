import { callServer } from '../server/call-server.ts';
import type { Session } from '../server/connect.ts';
import {
  type Registration,
  namespaceRetentionDays,
  registerSearchAttributes,
} from '../../connection/search-attributes.ts';

/** The result of `client.setUp`. */
export interface Setup extends Registration {
  /** How long the namespace keeps closed runs, in days. */
  retentionDays: number;
}

/** Registers the search attributes of the inbox and reads the retention. Repeating it is harmless. */
export async function setUp(session: Session): Promise<Setup> {
  const { connection, namespace, attributes } = session;
  return callServer(
    session,
    async () => ({
      ...(await registerSearchAttributes(connection, namespace, attributes)),
      retentionDays: await namespaceRetentionDays(connection, namespace),
    }),
    { timeoutMs: 60_000 },
  );
}
