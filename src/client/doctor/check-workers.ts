import type { temporal } from '@temporalio/proto';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { countedNoun } from '../../card/cut-text.ts';
import { type WorkerFacts, ownVersion, workerFacts } from '../../connection/one-sdk.ts';
import { callServer, type Session } from '../server/session.ts';
import { listedExecutions } from '../server/memo-rows.ts';
import { type Check, type CheckOutcome, fine, runCheck, wrong } from './check.ts';
import { isOfVersion, moveCommand, type PinnedVersion, pinnedVersionOf, noWorker } from '../server/ask-worker.ts';

/** A poll lasts up to a minute. A worker whose last poll began earlier has stopped, even if it is still listed. */
const pollSeconds = 75;

const runsLookedAt = 1_000;

interface Poller {
  info: temporal.api.taskqueue.v1.IPollerInfo;
  identity: string;
  agoMs: number;
}

/** Checks that a worker polls the task queue, and that all workers have this engine and one policy of the operator. */
export async function checkWorkers(session: Session, taskQueue: string, isClockRight: boolean): Promise<Check[]> {
  let pollers: Poller[] = [];
  const worker = await runCheck('worker', async () => {
    pollers = await pollersOf(session, taskQueue);
    return checkPollers(session, taskQueue, pollers, isClockRight);
  });
  if (pollers.length === 0) return [worker];
  const identities = pollers.map(({ identity }) => identity);
  const engine = await runCheck('engine', async () => {
    // This import is dynamic, because the module loads the condition language, which no other check needs.
    const { engine: own } = await import('../../core/policy/ruling.ts');
    return compareEngines(own, taskQueue, identities);
  });
  // The server still lists a worker that has stopped, but its policy binds no new run.
  const living = pollers.filter((poller) => isLiving(poller, isClockRight)).map(({ identity }) => identity);
  return [worker, engine, await runCheck('policy', () => comparePolicies(taskQueue, living))];
}

/** Checks that a worker is running, by the time of the last poll. A wrong clock says nothing about that time. */
function checkPollers(
  session: Session,
  taskQueue: string,
  pollers: readonly Poller[],
  isClockRight: boolean,
): CheckOutcome {
  const command = `countersign worker --task-queue ${taskQueue}`;
  if (pollers.length === 0) return wrong(noWorker(session, taskQueue).message, command);
  if (!isClockRight) return fine(`A worker polls task queue '${taskQueue}', or did minutes ago.`);
  const seconds = Math.round(Math.min(...pollers.map(({ agoMs }) => agoMs)) / 1_000);
  if (seconds <= pollSeconds)
    return fine(`A worker is running for task queue '${taskQueue}' (last seen ${seconds} s ago).`);
  const seen = `A worker polled task queue '${taskQueue}' ${seconds} s ago`;
  return wrong(`${seen}, and none since: start one with \`countersign worker\`.`, command);
}

function isLiving({ agoMs }: Poller, isClockRight: boolean): boolean {
  return !isClockRight || agoMs <= pollSeconds * 1_000;
}

/** Checks that workers poll for each version to which waiting runs are pinned: answers to these runs wait for them. */
export async function checkVersions(session: Session, isClockRight: boolean): Promise<CheckOutcome> {
  const query = `${session.attributes.ids} IS NOT NULL AND ExecutionStatus = "Running"`;
  const pinned = new Map<string, { version: PinnedVersion; taskQueue: string; workflowIds: string[] }>();
  // One page is a large enough sample, and the answer says where it may not be all.
  let among = '';
  for await (const page of listedExecutions(session, { query, pageSize: runsLookedAt })) {
    if (page.length >= runsLookedAt) among = ` among the ${runsLookedAt} that were looked at`;
    for (const { execution, taskQueue, searchAttributes } of page) {
      const version = pinnedVersionOf(searchAttributes);
      if (version === undefined || taskQueue == null) continue;
      const key = JSON.stringify([version, taskQueue]);
      const known = pinned.get(key) ?? { version, taskQueue, workflowIds: [] };
      pinned.set(key, known);
      known.workflowIds.push(execution?.workflowId ?? '');
    }
    break;
  }
  for (const { version, taskQueue, workflowIds } of pinned.values()) {
    const pollers = await pollersOf(session, taskQueue);
    if (pollers.some((each) => isLiving(each, isClockRight) && isOfVersion(each.info, version))) continue;
    return versionGone(session, version, workflowIds);
  }
  if (pinned.size === 0) return fine(`No run that asks something${among} is pinned to a Worker Deployment Version.`);
  return fine(`Every Worker Deployment Version to which a run that asks something${among} is pinned has a worker.`);
}

/** Returns the problem that no worker has this version, with the command that moves runs to the current one. */
function versionGone(
  session: Session,
  { deploymentName, buildId }: PinnedVersion,
  workflowIds: readonly string[],
): CheckOutcome {
  const version = `${deploymentName}:${buildId}`;
  const query = `TemporalWorkerDeploymentVersion="${version}" AND ExecutionStatus="Running"`;
  // A query cannot quote a version with `"` or `\`: then the command names one run.
  const hasMany = workflowIds.length > 1 && !/["\\]/.test(version);
  const command = hasMany
    ? moveCommand(session, '--query', query)
    : moveCommand(session, '--workflow-id', workflowIds[0]!);
  const [first] = workflowIds;
  const waiting =
    workflowIds.length === 1
      ? `Run '${first}' asks something and is`
      : `${workflowIds.length} runs ask something, such as '${first}', and are`;
  return wrong(
    `${waiting} pinned to version '${buildId}' of Worker Deployment '${deploymentName}', which no worker has: an answer waits until one polls. Start a worker of this version, or move what is pinned to it to the current version: \`${command}\`.`,
    command,
  );
}

/** Returns the workers that the server lists for a task queue, each with the age of its last poll; 0 if unknown. */
async function pollersOf({ connection, namespace, ...session }: Session, taskQueue: string): Promise<Poller[]> {
  const answer = await callServer({ connection, namespace, ...session }, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
  );
  return answer.pollers.map((info) => ({
    info,
    identity: info.identity ?? '',
    agoMs: info.lastAccessTime == null ? 0 : Math.max(0, Date.now() - tsToMs(info.lastAccessTime)),
  }));
}

/** Compares the operator's policies of workers, because a new run gets the policy of the worker that starts it. */
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
    return fine(`${whose} say which policy of the operator they have: ${policyName(first.policy)}.`);
  }
  return wrong(
    `Worker '${first.identity}' of task queue '${taskQueue}' has ${policyName(first.policy)}, and '${other.identity}' has ${policyName(other.policy)}: which one binds a new run is chance. Start them with the same policy; while a new one is rolled out, wait until the last worker with the old one has stopped.`,
  );
}

function policyName(policy: string): string {
  return policy === 'none' ? 'no policy of the operator' : `policy ${policy}`;
}

/** Finds a worker that rules with another engine than this version, as far as the identities of workers show it. */
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
