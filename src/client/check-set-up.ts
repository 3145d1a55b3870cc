import { missingSearchAttributes } from '../connection/search-attributes.ts';
import { callServer } from './call-server.ts';
import { type Check, checkCodec } from './check-codec.ts';
import type { Session } from './connect.ts';
import { hasWorker, noWorker } from './worker-presence.ts';

/** Checks what a client needs, in the order in which one thing depends on another. */
export async function checkSetUp(session: Session, taskQueue: string): Promise<Check[]> {
  const { connection, address, namespace, attributes } = session;
  const missing = await callServer(session, () => missingSearchAttributes(connection, namespace, attributes));
  const isPolled = await hasWorker(session, taskQueue);
  return [
    { check: 'server', isOk: true, message: `${address} answers for namespace '${namespace}'.` },
    {
      check: 'attributes',
      isOk: missing.length === 0,
      message:
        missing.length === 0
          ? 'The search attributes of the inbox are registered.'
          : `The namespace lacks ${missing.join(', ')}: run \`countersign setup\` once.`,
    },
    {
      check: 'worker',
      isOk: isPolled,
      message: isPolled ? `A worker polls task queue '${taskQueue}'.` : noWorker(session, taskQueue).message,
    },
    await checkCodec(session),
  ];
}
