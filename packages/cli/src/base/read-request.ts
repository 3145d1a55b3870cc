import { isProblemError } from 'countersign/base';
import type { CountersignClient, ApprovalDetails, ApprovalSummary } from 'countersign/client';
import { UsageError } from './output.ts';

/** A request with all its details or, if no worker answers, its row in the list and the error. */
export type ReadRequest = { details: ApprovalDetails } | { row: ApprovalSummary; why: Error };

/** Reads a request or, without a worker, its row in the list. Throws `no_worker` if the list lacks it, too. */
export async function readRequest(
  client: CountersignClient,
  requestId: string,
  workflowId: string | undefined,
): Promise<ReadRequest> {
  try {
    return { details: await client.approvals.get(requestId, { workflowId }) };
  } catch (error) {
    if (!isProblemError(error) || error.code !== 'no_worker') throw error;
    const { approvals } = await client.approvals.list({ workflowId, limit: Infinity });
    const rows = approvals.filter((row) => row.requestId === requestId);
    // Rows of several runs with this id leave open which run has the request, so no row is shown.
    if (rows.length !== 1) throw error;
    return { row: rows[0]!, why: error };
  }
}

/**
 * Throws a usage error that names the hidden arguments, if not all arguments of a call can be read. If only the list
 * shows the call, returns its digest, so that no other call is approved; otherwise undefined.
 */
export async function requireShown(
  client: CountersignClient,
  requestId: string,
  workflowId: string | undefined,
): Promise<string | undefined> {
  const read = await readRequest(client, requestId, workflowId).catch((error: unknown) => {
    const code = isProblemError(error) ? error.code : undefined;
    if (code === 'no_worker') {
      throw new UsageError(
        'No worker answers, and the list does not show the request: start a worker, or add --unseen.',
      );
    }
    // --unseen is not advised to a client with codecs, because such a client sends nothing to a run it cannot read.
    if (code !== 'undecodable' || client.session.hasCodecs) throw error;
    throw new UsageError(`${(error as Error).message} To approve it without seeing it, add --unseen.`);
  });
  if ('details' in read) return undefined;
  // A row without `notShown` shows none of its arguments.
  const { shown, argumentNames, notShown = argumentNames, digest } = read.row;
  if (shown === 'all') return digest;
  const names = notShown.length === 0 ? 'its arguments' : notShown.map((name) => `'${name}'`).join(', ');
  throw new UsageError(
    `No worker answers, so you cannot see all that you would approve (not shown: ${names}): start a worker, or add --unseen.`,
  );
}
