import { type WorkerEngine, engineOf, ownVersion } from '../connection/worker-identity.ts';
import { callServer } from './call-server.ts';
import { type Check, fine, runCheck, wrong } from './check.ts';
import type { Session } from './connect.ts';
import { noWorker } from './worker-presence.ts';

/** Checks that a worker polls the task queue, and that all who do rule with the engine of this version. */
export async function checkWorkers(session: Session, taskQueue: string): Promise<Check[]> {
  let identities: string[] = [];
  const worker = await runCheck('worker', async () => {
    identities = await pollersOf(session, taskQueue);
    if (identities.length > 0) return fine(`A worker polls task queue '${taskQueue}'.`);
    return wrong(noWorker(session, taskQueue).message, `countersign worker --task-queue ${taskQueue}`);
  });
  if (identities.length === 0) return [worker];
  const engine = await runCheck('engine', async () => {
    // Rulings load the condition language, which no other check needs.
    const { engine: own } = await import('../core/policy/ruling.ts');
    return compare(own, taskQueue, identities);
  });
  return [worker, engine];
}

async function pollersOf({ connection, namespace, ...session }: Session, taskQueue: string): Promise<string[]> {
  const answer = await callServer({ connection, namespace, ...session }, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
  );
  return answer.pollers.map(({ identity }) => identity ?? '');
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
