import { missingSearchAttributes, namespaceRetentionDays } from '../../connection/search-attributes.ts';
import { requireOneSdk } from '../../connection/one-sdk.ts';
import { startCommandIn, translateServerError } from '../../connection/server-error.ts';
import { callServer } from '../server/call-server.ts';
import { type Check, fine, runCheck, wrong } from './check.ts';
import { checkClock } from './check-clock.ts';
import { checkCodec } from './check-codec.ts';
import { checkWorkers } from './check-workers.ts';
import type { Session } from '../server/connect.ts';

/** What to check with. */
export interface CheckOptions {
  /** The longest time that a request may wait, in milliseconds: the operator's `max_timeout`. Default 30 days. */
  longestWaitMs?: number;
}

const dayMs = 86_400_000;

/**
 * Checks what a client needs, in the order in which one thing depends on another. Without the namespace nothing further
 * is checked. Throws nothing that is a finding.
 */
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
      return retention(namespace, days, longestWaitMs);
    }),
    ...(await checkWorkers(session, taskQueue, clock.isOk)),
    await runCheck('codec', () => checkCodec(session)),
  ];
}

/** What is checked without a server. */
export function checkSdk(): Promise<Check> {
  return runCheck('sdk', () => {
    requireOneSdk();
    return fine("This process has one copy of Temporal's SDK.");
  }).then((check) => (check.isOk ? check : { ...check, command: 'npm ls @temporalio/client @temporalio/worker' }));
}

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

/** A run that waits may have continued as new: its earlier executions are closed, and are kept only so long. */
function retention(namespace: string, days: number, longestWaitMs: number) {
  const neededDays = Math.ceil(longestWaitMs / dayMs);
  if (days * dayMs >= longestWaitMs) return fine(`Closed executions are kept for ${days} days.`);
  const command = `temporal operator namespace update --namespace ${namespace} --retention ${neededDays}d`;
  return wrong(
    `Closed executions are kept for ${days} days, and a request may wait for ${neededDays}: what a run did before it continued as new is gone before its request is answered. \`${command}\` keeps them.`,
    command,
  );
}
