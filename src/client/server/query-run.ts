import { QueryNotRegisteredError } from '@temporalio/client';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { isNotTakenUp, isNotTakenYet } from './client-plugin.ts';
import { askWorker } from './ask-worker.ts';
import type { Session } from './connect.ts';
import {
  grpcStatus,
  grpcStatusOf,
  serverWords,
  translateServerError,
  unreadAnswer,
} from '../../connection/server-error.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Queries a run, open or closed: the execution `runId`, by default the last one. Gives up after `timeoutMs` (default:
 * the client's `queryTimeoutMs`). Throws `no_worker`, `run_not_found`, `server_unreachable`, and `run_closed` for a run
 * that ended before its first workflow task.
 */
export async function queryRun<Answer>(
  session: Session,
  workflowId: string,
  name: string,
  args: unknown[] = [],
  timeoutMs = session.limits.queryTimeoutMs,
  runId?: string,
): Promise<Answer> {
  try {
    const ask = (): Promise<Answer> =>
      session.client.workflow.getHandle(workflowId, runId).query<Answer, unknown[]>(name, ...args);
    const answer = await askWorker(session, workflowId, timeoutMs, () => askAgain(timeoutMs, ask));
    if (isUndecodable(answer)) throw unreadAnswer(workflowId, answer.why);
    return answer;
  } catch (error) {
    // Do not look at the cause of a `ProblemError`: its status may mean something else in the checks below.
    if (isProblemError(error)) throw error;
    if (isNotTakenUp(error)) {
      const message = `Run '${workflowId}' continues as new, and no worker has verified yet what it continues: ask again.`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (isNotTakenYet(error)) {
      const message = `Events of run '${workflowId}' wait for a worker to take them: ask again.`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (error instanceof QueryNotRegisteredError && saysNoHandler(error)) {
      throw new ProblemError(
        { code: 'run_not_found', message: `'${workflowId}' does not answer as a run of Countersign: ${error.message}` },
        { cause: error },
      );
    }
    if (error instanceof QueryNotRegisteredError) {
      const message = `Run '${workflowId}' could not be asked, because a worker failed its query: ask again. ${error.message}`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (grpcStatusOf(error) === grpcStatus.FAILED_PRECONDITION && /task in failed state/i.test(serverWords(error))) {
      const message = `Run '${workflowId}' cannot be asked now: its workflow task fails, and is tried again. The log of its workers says why; after a roll-back, start a worker of the newer version.`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (grpcStatusOf(error) === grpcStatus.FAILED_PRECONDITION) {
      throw new ProblemError(
        { code: 'run_closed', message: `Run '${workflowId}' cannot be asked: ${serverWords(error)}.` },
        { cause: error },
      );
    }
    throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
  }
}

/**
 * True if a workflow runs and has no such query, by the messages of each SDK (TypeScript; Go and Java; Python, .NET and
 * Ruby). The client has one class for this and for every other failure, such as that of a worker without the workflow.
 */
function saysNoHandler({ message }: QueryNotRegisteredError): boolean {
  return /did not register a handler|unknown query ?type|expected but not found/i.test(message);
}

/**
 * Asks a second time if there is no answer of any kind after half of `timeoutMs`. The SDK's core may lose a query that
 * waits for a run which it drops from its cache (docs/decisions/0058). The first answer counts. If both attempts fail,
 * the earlier failure is thrown: a refusal is more specific than a later time-out.
 */
export async function askAgain<Answer>(timeoutMs: number, ask: () => Promise<Answer>): Promise<Answer> {
  const first = ask();
  const hasEnded = first.then(
    () => true,
    () => true,
  );
  const isSilent = sleep(timeoutMs / 2, false, { ref: false });
  if (await Promise.race([hasEnded, isSilent])) return first;
  const failures: unknown[] = [];
  const noted = (asked: Promise<Answer>): Promise<Answer> =>
    asked.catch((error: unknown) => {
      failures.push(error);
      throw error;
    });
  return Promise.any([noted(first), noted(ask())]).catch(() => {
    throw failures[0];
  });
}
