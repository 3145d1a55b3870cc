import { tsToMs } from '@temporalio/common/lib/time.js';
import { countedNoun } from '../../card/cut-text.ts';
import { type WorkerFacts, ownVersion, workerFacts } from '../../connection/worker-identity.ts';
import { callServer } from '../server/call-server.ts';
import { type Check, type CheckOutcome, fine, runCheck, wrong } from './check.ts';
import type { Session } from '../server/connect.ts';
import { noWorker } from '../server/worker-presence.ts';

/** A poll lasts up to a minute. The server lists a worker for minutes after it has stopped. */
const pollSeconds = 75;

interface Poller {
  identity: string;
  agoMs: number;
}

/** Checks that a worker polls the task queue, that all rule with the engine of this version, and by one policy. */
export async function checkWorkers(session: Session, taskQueue: string, isClockRight: boolean): Promise<Check[]> {
  let identities: string[] = [];
  let living: string[] = [];
  const worker = await runCheck('worker', async () => {
    const pollers = await pollersOf(session, taskQueue);
    const isLiving = ({ agoMs }: Poller): boolean => !isClockRight || agoMs <= pollSeconds * 1_000;
    identities = pollers.map(({ identity }) => identity);
    living = pollers.filter(isLiving).map(({ identity }) => identity);
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
    const { engine: own } = await import('../../core/policy/ruling.ts');
    return compareEngines(own, taskQueue, identities);
  });
  return [worker, engine, await runCheck('policy', () => comparePolicies(taskQueue, living))];
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

/** A run has the policy of the worker that starts it, and whichever worker runs its tools looks at its own once more. */
function comparePolicies(taskQueue: string, identities: readonly string[]): CheckOutcome {
  const known = identities.flatMap((identity) => {
    const policy = workerFacts(identity)?.policy;
    return policy === undefined ? [] : [{ identity, policy }];
  });
  const [first] = known;
  const other = known.find(({ policy }) => policy !== first?.policy);
  if (first === undefined) return fine('No worker says in its identity which policy of the operator it has.');
  if (other === undefined) {
    const whose = `${countedNoun(known.length, 'worker')} of ${identities.length}`;
    return fine(`${whose} say which policy of the operator they have: ${named(first.policy)}.`);
  }
  return wrong(
    `Worker '${first.identity}' of task queue '${taskQueue}' has ${named(first.policy)}, and '${other.identity}' has ${named(other.policy)}: which one binds a new run is chance. Start them with the same policy; while a new one is rolled out, wait until the last worker with the old one has stopped.`,
  );
}

function named(policy: string): string {
  return policy === 'none' ? 'no policy of the operator' : `policy ${policy}`;
}

function compareEngines(own: number, taskQueue: string, identities: readonly string[]): CheckOutcome {
  const engines = identities.map((identity) => ({ identity, found: workerFacts(identity) }));
  const other = engines.find(({ found }) => found !== undefined && found.engine !== own);
  if (other === undefined) {
    const silent = engines.filter(({ found }) => found === undefined).length;
    if (silent === 0) return fine(`The workers rule with engine ${own}, as this version does.`);
    return fine(
      `${silent} of ${engines.length} workers have an identity of their own, which does not say with which engine they rule.`,
    );
  }
  const { version, engine } = other.found as WorkerFacts;
  const newer = engine > own ? version : ownVersion();
  const where = engine > own ? 'here' : 'where that worker runs';
  return wrong(
    `Worker '${other.identity}' of task queue '${taskQueue}' rules with engine ${engine} (version ${version}), and this version with engine ${own}: new runs may be ruled on in two ways. Install one version, \`npm install countersign@${newer}\`, ${where}. The server lists a worker for some minutes after it has stopped.`,
    `npm install countersign@${newer}`,
  );
}
