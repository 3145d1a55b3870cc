import { checkCallOptions } from '../../text/check-call-options.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { fileNameIn, type Cleaned, cleanFolder } from '../../payload-folder/payload-files.ts';
import { claimIn } from '../../payload-folder/folder-driver.ts';
import { largePayloadsOf } from '../../payload-folder/large-payloads.ts';
import { type PayloadFolder, openPayloadFolder } from '../../payload-folder/open-folder.ts';
import { callServer, type Session } from '../server/session.ts';
import { type ExecutionId, executionIdOf, listedExecutions } from '../server/memo-rows.ts';
import { grpcStatus, grpcStatusOf } from '../../connection/server-error.ts';

/** Options of `cleanPayloads`. */
export interface CleanOptions {
  /** The folder with the payload files. Default: `COUNTERSIGN_PAYLOAD_FOLDER`. */
  folder?: string;
  /** The least age of a removed file, by its last writing, in milliseconds. At least an hour; default one day. */
  olderThanMs?: number;
  /** If true, files are only counted, and none is removed. Default false. */
  dryRun?: boolean;
}

/** The result of `cleanPayloads`. */
export interface CleanedPayloads extends Cleaned {
  /** The number of executions whose histories were read. */
  runs: number;
}

const hourMs = 3_600_000;

/**
 * Removes payload files that no history of the namespace names. Reads every history. Recent files stay, because no
 * history names a payload that is still on its way to the server. Throws `internal` without a folder, for too short an
 * age and for an unknown option, and `server_unreachable`: then nothing was removed.
 *
 * @example
 * ```ts
 * import { cleanPayloads, createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const { removed, kept } = await cleanPayloads(client.session, { olderThanMs: 7 * 86_400_000, dryRun: true });
 * console.log(`${removed} files can go, ${kept} stay`); // 0 files can go, 0 stay
 * await client.close();
 * ```
 */
export async function cleanPayloads(session: Session, options: CleanOptions = {}): Promise<CleanedPayloads> {
  checkCallOptions('cleanPayloads', options, { folder: true, olderThanMs: true, dryRun: true }, 'internal');
  const { olderThanMs = 24 * hourMs, dryRun = false } = options;
  const wanted = largePayloadsOf(options.folder === undefined ? undefined : { folder: options.folder });
  if (wanted === undefined) {
    throw internalProblem('No payload folder is named: give it with --folder or as COUNTERSIGN_PAYLOAD_FOLDER.');
  }
  if (!(olderThanMs >= hourMs)) throw internalProblem('Payload files must be at least an hour old to be removed.');
  const beforeMs = Date.now() - olderThanMs;
  const folder = openPayloadFolder(wanted.folder, session.namespace);
  const named = new Set<string>();
  let runs = 0;
  // Every execution that the namespace still keeps counts, also of workflows that are not Countersign's.
  for await (const page of listedExecutions(session)) {
    for (const row of page) {
      runs += 1;
      for (const name of await namesIn(session, folder, executionIdOf(row))) named.add(name);
    }
  }
  return { ...(await cleanFolder(folder.path, (name) => named.has(name), { beforeMs, dryRun })), runs };
}

/** Returns the names of all files of the folder to which a history refers; none if it was removed meanwhile. */
async function namesIn(session: Session, { key }: PayloadFolder, execution: ExecutionId): Promise<string[]> {
  const { workflowService } = session.connection;
  const names: string[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const request = { namespace: session.namespace, execution, nextPageToken };
    const page = await callServer(session, async () => {
      try {
        return await workflowService.getWorkflowExecutionHistory(request);
      } catch (error) {
        // The execution was removed by retention after it was listed.
        if (grpcStatusOf(error) === grpcStatus.NOT_FOUND) return undefined;
        throw error;
      }
    });
    if (page === undefined) return [];
    for (const claim of claimsIn(page.history)) {
      const name = fileNameIn(key, claim);
      if (name !== undefined) names.push(name);
    }
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
  return names;
}

/** Yields the claims of all references to payload folders, anywhere in an event. */
function* claimsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  const claim = claimIn(value);
  if (claim !== undefined) yield claim;
  else for (const part of Object.values(value)) yield* claimsIn(part);
}

function internalProblem(message: string): ProblemError {
  return new ProblemError({ code: 'internal', message });
}
