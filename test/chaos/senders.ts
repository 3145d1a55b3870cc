/** Sends messages to runs. Several senders work at the same time, each over its own connection. */
import { Client, Connection } from '@temporalio/client';
import { RawValue } from '@temporalio/common';
import type { WorkflowClient } from '@temporalio/client';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { createClient } from '../../src/client/client.ts';
import { plainSender } from './schedule.ts';

export interface Sender {
  namespace: string;
  connection: Connection;
  workflow: WorkflowClient;
  /** Absent for a plain Temporal client, which writes its payloads byte by byte. */
  client?: CountersignClient;
}

export interface Senders {
  all: readonly Sender[];
  close(): Promise<void>;
}

export async function openSenders(address: string): Promise<Senders> {
  const clients = await Promise.all(Array.from({ length: plainSender }, () => createClient({ address })));
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection });
  return {
    all: [...clients.map(senderOf), { namespace: 'default', connection, workflow }],
    close: async () => {
      await Promise.all([...clients.map((client) => client.close()), connection.close()]);
    },
  };
}

function senderOf(client: CountersignClient): Sender {
  const { connection, namespace, client: temporal } = client.session;
  return { namespace, connection, workflow: temporal.workflow, client };
}

/** The argument that the sender passes to Temporal's client for this message. */
export function writtenBy({ client }: Sender, message: unknown): unknown {
  return client === undefined ? rawJson(JSON.stringify(message)) : message;
}

/** A payload marked as JSON that holds exactly this text. */
export function rawJson(text: string): RawValue {
  return RawValue.fromPayload({ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(text) });
}
