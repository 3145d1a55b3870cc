import { tsToMs } from '@temporalio/common/lib/time.js';
import { type WorkerEngine, engineOf, ownVersion } from '../connection/worker-identity.ts';
import { callServer } from './call-server.ts';
import { type Check, fine, runCheck, wrong } from './check.ts';
import type { Session } from './connect.ts';
import { noWorker } from './worker-presence.ts';

/** A poll lasts up to a minute. The server lists a worker for minutes after it has stopped. */
const pollSeconds = 75;

interface Poller {
  identity: string;
  agoMs: number;
}

/** Checks that a worker polls the task queue, and that all who do rule with the engine of this version. */
export async function checkWorkers(session: Session, taskQueue: string, isClockRight: boolean): Promise<Check[]> {
  let identities: string[] = [];
  const worker = await runCheck('worker', async () => {
    const pollers = await pollersOf(session, taskQueue);
    identities = pollers.map(({ identity }) => identity);
    const command = `countersign worker --task-queue ${taskQueue}`;
    if (pollers.length === 0) return wrong(noWorker(session, taskQueue).message, command);
    if (!isClockRight) return fine(`A worker polls task queue '${taskQueue}', or did minutes ago.`);
    const seconds = Math.round(Math.min(...pollers.map(({ agoMs }) => agoMs)) / 1_000);
    const seen = `A worker polled task queue '${taskQueue}' ${seconds} s ago`;
    if (seconds <= pollSeconds) return fine(`${seen}; one that lives polls at least every ${pollSeconds} s.`);
    return wrong(`${seen}, and none since: start one with \`countersign worker\`.`, command);
  });
  if (identities.length === 0) return [worker];
  const engine = await runCheck('engine', async () => {
    // Rulings load the condition language, which no other check needs.
    const { engine: own } = await import('../core/policy/ruling.ts');
    return compare(own, taskQueue, identities);
  });
  return [worker, engine];
}

async function pollersOf({ connection, namespace, ...session }: Session, taskQueue: string): Promise<Poller[]> {
  const answer = await callServer({ connection, namespace, ...session }, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
  );
  return answer.pollers.map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    agoMs: lastAccessTime == null ? 0 : Math.max(0, Date.now() - tsToMs(lastAccessTime)),
  }));
}

function compare(own: number, taskQueue: string, identities: readonly string[]) {
  const engines = identities.map((identity) => ({ identity, found: engineOf(identity) }));
  const other = engines.find(({ found }) => found !== undefined && found.engine !== own);
  if (other === undefined) {
    const silent = engines.filter(({ found }) => found === undefined).length;
    if (silent === 0) return fine(`The workers rule with engine ${own}, as this version does.`);
    return fine(
      `${silent} of ${engines.length} workers have an identity of their own, which does not say with which engine they rule.`,
    );
  }
  const { version, engine } = other.found as WorkerEngine;
  const newer = engine > own ? version : ownVersion();
  const where = engine > own ? 'here' : 'where that worker runs';
  return wrong(
    `Worker '${other.identity}' of task queue '${taskQueue}' rules with engine ${engine} (version ${version}), and this version with engine ${own}: new runs may be ruled on in two ways. Install one version, \`npm install countersign@${newer}\`, ${where}. The server lists a worker for some minutes after it has stopped.`,
    `npm install countersign@${newer}`,
  );
}
