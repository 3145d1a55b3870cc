import { getClient } from '@temporalio/activity';
import type { Connection } from '@temporalio/client';
import type { Session } from '../../client/server/connect.ts';
import type { AttributeNames } from '../../core/base/attribute-names.ts';

/** The connection of the worker, for the functions of the client. Call it in an activity. */
export function sessionOfWorker(attributes: AttributeNames): Session {
  const client = getClient();
  return {
    // The client's functions use only what both kinds of connection have: services, deadlines and abort signals.
    connection: client.connection as unknown as Connection,
    client,
    address: 'the server of this worker',
    namespace: client.options.namespace,
    attributes,
    hasCodecs: client.options.loadedDataConverter.payloadCodecs.length > 0,
  };
}
