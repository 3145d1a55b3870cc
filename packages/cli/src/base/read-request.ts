import { isProblemError } from 'countersign/base';
import type { CountersignClient, ApprovalDetails, ApprovalSummary } from 'countersign/client';
import { UsageError } from './output.ts';

/** A request. If no worker answers, it is the row of the list, and `why` is the error. */
export type ReadRequest = { details: ApprovalDetails } | { row: ApprovalSummary; why: Error };

/** Reads a request or, without a worker, its row in the list. `no_worker` means that the list lacks it, too. */
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
    // If several runs claim the request, none of them is shown as its run.
    if (rows.length !== 1) throw error;
    return { row: rows[0]!, why: error };
  }
}

/**
 * Throws a usage error with the hidden arguments if not all arguments of a call can be read. If no worker answers,
 * returns the digest in the list, so that no other call is approved; else undefined.
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
    // A client with codecs sends nothing to a run that it cannot read: then --unseen would not help.
    if (code !== 'undecodable' || client.session.hasCodecs) throw error;
    throw new UsageError(`${(error as Error).message} To approve it without seeing it, add --unseen.`);
  });
  if ('details' in read) return undefined;
  const { shown, argumentNames, notShown = argumentNames, digest } = read.row;
  if (shown === 'all') return digest;
  const names = notShown.length === 0 ? 'its arguments' : notShown.map((name) => `'${name}'`).join(', ');
  throw new UsageError(
    `No worker answers, so you cannot see all that you would approve (not shown: ${names}): start a worker, or add --unseen.`,
  );
}
