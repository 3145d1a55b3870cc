import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { Payload } from '@temporalio/common';
import { missingSearchAttributes, namespaceRetentionDays } from '../../connection/search-attributes.ts';
import { requireOneSdk } from '../../connection/one-sdk.ts';
import { startCommandIn, translateServerError, readingRemedy } from '../../connection/server-error.ts';
import { callServer, type Session } from '../server/session.ts';
import { type Check, fine, runCheck, wrong, type CheckOutcome } from './check.ts';
import { checkVersions, checkWorkers } from './check-workers.ts';
import { formatDuration } from '../../core/base/duration.ts';
import { memoName } from '../../contract.ts';
import { countedNoun } from '../../card/cut-text.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { readPayload } from '../server/read-payload.ts';

const runsTried = 50;

/** The most by which the clocks may differ, in milliseconds. */
const toleratedMs = 5_000;

const pollMs = 5_000;

const mostLooks = 20;

const lookEveryMs = 100;

/** Options of `client.check`. */
export interface CheckOptions {
  /** The longest time that a request may wait, in milliseconds: the operator's `max_timeout`. Default 30 days. */
  longestWaitMs?: number;
}

const dayMs = 86_400_000;

/** Checks what runs and clients need. Without the server or its namespace, it leaves out the checks that need them. */
export async function checkSetUp(
  session: Session,
  taskQueue: string,
  { longestWaitMs = 30 * dayMs }: CheckOptions = {},
): Promise<Check[]> {
  const { address, namespace } = session;
  const sdk = await checkSdk();
  const server = await runCheck('server', async () => {
    const { serverVersion } = await callServer(session, () => session.connection.workflowService.getSystemInfo({}));
    return fine(`${address} answers${serverVersion === '' ? '' : `, with Temporal ${serverVersion}`}.`);
  });
  if (!server.isOk) return [sdk, { ...server, command: startCommandIn(server.message) }];
  const found = await checkNamespace(session);
  if (!found.isOk) return [sdk, server, found];
  const clock = await runCheck('clock', () => checkClock(session));
  return [
    sdk,
    server,
    found,
    clock,
    await checkAttributes(session),
    await runCheck('retention', async () => {
      const days = await callServer(session, () => namespaceRetentionDays(session.connection, namespace));
      return retentionCheck(namespace, days, longestWaitMs);
    }),
    ...(await checkWorkers(session, taskQueue, clock.isOk)),
    await runCheck('version', () => checkVersions(session, clock.isOk)),
    await runCheck('codec', () => checkCodec(session)),
  ];
}

export function checkSdk(): Promise<Check> {
  return runCheck('sdk', () => {
    requireOneSdk();
    return fine("This process has one copy of Temporal's SDK.");
  }).then((check) => (check.isOk ? check : { ...check, command: 'npm ls @temporalio/client @temporalio/worker' }));
}

/** Checks that the namespace exists. If it does not, the finding has the command that creates it. */
async function checkNamespace(session: Session): Promise<Check> {
  const { connection, address, namespace } = session;
  return runCheck('namespace', async () => {
    try {
      await callServer(session, () => connection.workflowService.describeNamespace({ namespace }));
      return fine(`Namespace '${namespace}' exists.`);
    } catch (error) {
      const problem = translateServerError(error, { address, namespace });
      if (!/has no namespace/.test(problem.message)) throw problem;
      const command = `temporal operator namespace create --namespace ${namespace} --address ${address} --retention 30d`;
      return wrong(`${problem.message} Name another with --namespace, or create it: \`${command}\`.`, command);
    }
  });
}

async function checkAttributes(session: Session): Promise<Check> {
  const { connection, namespace, attributes } = session;
  return runCheck('attributes', async () => {
    const missing = await callServer(session, () => missingSearchAttributes(connection, namespace, attributes));
    if (missing.length === 0) return fine('The search attributes of the inbox are registered.');
    return wrong(`The namespace lacks ${missing.join(', ')}: run \`countersign setup\` once.`, 'countersign setup');
  });
}

/** Checks the retention: the earlier executions of a waiting run are closed, and must be kept as long as it waits. */
function retentionCheck(namespace: string, days: number, longestWaitMs: number) {
  const neededDays = Math.ceil(longestWaitMs / dayMs);
  if (days * dayMs >= longestWaitMs) return fine(`Closed executions are kept for ${days} days.`);
  const command = `temporal operator namespace update --namespace ${namespace} --retention ${neededDays}d`;
  return wrong(
    `Closed executions are kept for ${days} days, and a request may wait for ${neededDays}: what a run did before it continued as new is gone before its request is answered. \`${command}\` keeps them.`,
    command,
  );
}

/**
 * Compares this machine's clock with the server's. The server never states its time, but it records when a task queue
 * was last polled. So this function polls an unused queue, and reads that time.
 */
async function checkClock(session: Session): Promise<CheckOutcome> {
  const { connection, namespace } = session;
  const taskQueue = { name: `countersign-clock-${randomUUID()}` };
  const giveUp = new AbortController();
  const beforeMs = Date.now();
  // No workflow uses this queue, so the poll gets no task. It goes on while the loop below reads its time.
  const poll = connection
    .withAbortSignal(giveUp.signal, () =>
      connection.withDeadline(beforeMs + pollMs, () =>
        connection.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'countersign doctor' }),
      ),
    )
    .catch(() => undefined);
  try {
    for (let look = 0; look < mostLooks; look += 1) {
      const { pollers } = await callServer(session, () =>
        connection.workflowService.describeTaskQueue({ namespace, taskQueue }),
      );
      const [poller] = pollers;
      if (poller?.lastAccessTime != null) {
        return clockOutcome(tsToMs(poller.lastAccessTime), beforeMs, Date.now());
      }
      await sleep(lookEveryMs);
    }
    return fine(
      "The server does not say when a queue was polled, so its clock could not be compared with this machine's.",
    );
  } finally {
    giveUp.abort();
    await poll;
  }
}

/** Compares `serverMs`, which the server recorded between `beforeMs` and `afterMs` of this machine's clock. */
function clockOutcome(serverMs: number, beforeMs: number, afterMs: number): CheckOutcome {
  // Positive if this clock is ahead, negative if it is behind; 0 for a time between the two readings.
  const aheadMs = Math.max(0, beforeMs - serverMs) || Math.min(0, afterMs - serverMs);
  if (Math.abs(aheadMs) <= toleratedMs) return fine("This machine's clock agrees with the server's.");
  const by = formatDuration(Math.round(Math.abs(aheadMs) / 1_000) * 1_000);
  return wrong(
    `This machine's clock is ${by} ${aheadMs > 0 ? 'ahead of' : 'behind'} the server's: the time left of requests is shown wrong, and so is what --for adds. Set it, such as with \`sudo timedatectl set-ntp true\`.`,
    'sudo timedatectl set-ntp true',
  );
}

/** Checks that this client can decode the memos of waiting runs and, if it has a codec, that workers encode them. */
async function checkCodec(session: Session): Promise<CheckOutcome> {
  const memos = await memosOf(session);
  if (memos.length === 0) return fine('No run asks anything now, so no codec could be tried.');
  let hasPlainMemo = false;
  for (const { workflowId, payload } of memos) {
    const value = await readPayload(session, payload);
    if (isUndecodable(value)) {
      return wrong(
        `The memo of run '${workflowId}' cannot be read: ${value.why}. ${readingRemedy}`,
        'countersign doctor --codec-endpoint URL',
      );
    }
    hasPlainMemo ||= Buffer.from(payload.metadata?.['encoding'] ?? []).toString() === 'json/plain';
  }
  if (session.hasCodecs && hasPlainMemo) {
    return wrong('This client has a codec, and some workers encode nothing: give them the same dataConverter.');
  }
  return fine(`The memos of ${countedNoun(memos.length, 'run')} can be read.`);
}

/** Returns the memos of runs with open requests, of at most `runsTried` runs. */
async function memosOf(session: Session): Promise<{ workflowId: string; payload: Payload }[]> {
  const { connection, namespace, attributes } = session;
  const query = `${attributes.ids} IS NOT NULL`;
  const { executions } = await callServer(session, () =>
    connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: runsTried }),
  );
  return executions.flatMap(({ execution, memo }) => {
    const payload = memo?.fields?.[memoName];
    return payload == null ? [] : [{ workflowId: execution?.workflowId ?? '', payload }];
  });
}
