import { sign as signBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AuditLine, type SealedLine, auditFormat } from '../../audit/audit-line.ts';
import { plainMembers } from '../../core/ledger/commit-entry.ts';
import { sealer } from '../../audit/entry-line.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { RunLines } from './audit-lines.ts';
import { fetchAuditedRun } from './audited-run.ts';
import { callServer, type Session } from '../server/session.ts';
import { listedExecutions } from '../server/memo-rows.ts';
import { publicKeyOf, readPrivateKey } from '../send/sign-message.ts';

/** What to export: a run by its workflow id, or all runs that a visibility query finds. */
export type AuditScope = { workflowId: string } | { query: string };

/** A run, identified by its newest execution. */
interface FoundRun {
  workflowId: string;
  /** Temporal's run id of that execution. */
  runId: string;
}

/** Options of `client.audit`. */
export interface AuditOptions {
  /**
   * Names of members to leave out: `reason`, `reviewerId` and other members of entries, and `caller`, `sender`,
   * `worker`, `arguments`. Entries still verify. Default: none.
   */
  withhold?: readonly string[];
  /** Ed25519: PEM without a passphrase, or 32 bytes in base64. Each line is signed with it. Default: not signed. */
  privateKey?: string;
  /** True: exports new lines until the runs have ended or `signal` aborts. For a query, until `signal` aborts. */
  follow?: boolean;
  /** Ends a followed export; its closing lines are still exported. */
  signal?: AbortSignal;
  /** How often a followed export polls, in milliseconds. Default 2,000. */
  intervalMs?: number;
}

/**
 * Exports the decisions of runs, line by line (docs/wire.md). Throws `run_not_found`, and `arguments_invalid` for
 * members that cannot be withheld.
 */
export async function* audit(
  session: Session,
  scope: AuditScope,
  { withhold = [], privateKey, follow = false, signal, intervalMs = 2_000 }: AuditOptions = {},
): AsyncGenerator<SealedLine> {
  const withheld = withholdable(withhold);
  const key = privateKey === undefined ? undefined : readPrivateKey(privateKey);
  const seal = sealer(key && ((text) => signBytes(null, Buffer.from(text), key).toString('base64')));
  const began: AuditLine = {
    line: 'export',
    format: auditFormat,
    namespace: session.namespace,
    at: new Date().toISOString(),
    of: scope,
    ...(privateKey !== undefined && { publicKey: publicKeyOf(privateKey) }),
    withheld: [...withheld],
  };
  const runs: ExportedRun[] = [];
  const exporting = { runs, withheld, follow, skipsOthers: 'query' in scope };
  let entries = 0;
  const counted = (line: AuditLine): SealedLine => {
    if (line.line === 'entry') entries += 1;
    return seal(line);
  };
  // A run that does not exist is reported before the first line.
  let found = await findRuns(session, scope);
  yield seal(began);
  for (;;) {
    for (const run of found) {
      for await (const line of newLines(session, run, exporting)) yield counted(line);
    }
    const isOver = 'workflowId' in scope && runs.every(({ isClosed }) => isClosed);
    if (!follow || isOver || signal?.aborted === true) break;
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    found = await findRuns(session, scope);
  }
  for (const open of runs.filter(({ isClosed }) => !isClosed)) {
    const run = await fetchAuditedRun(session, open.workflowId, open.runId);
    for (const line of open.lines.part(run, true)) yield counted(line);
  }
  yield seal({ line: 'end', at: new Date().toISOString(), runs: runs.length, entries });
}

interface ExportedRun extends FoundRun {
  lines: RunLines;
  /** The result of `growthOf` at the last poll. */
  seen: string;
  /** True once the run's head was exported; then no line of the run follows. */
  isClosed: boolean;
}

interface Exporting {
  runs: ExportedRun[];
  withheld: ReadonlySet<string>;
  follow: boolean;
  skipsOthers: boolean;
}

/** The new lines of a run. Adds the run to `runs`, or updates it there. */
async function* newLines(
  session: Session,
  { workflowId, runId }: FoundRun,
  { runs, withheld, follow, skipsOthers }: Exporting,
): AsyncGenerator<AuditLine> {
  const last = runs.find((each) => each.runId === runId);
  if (last?.isClosed === true) return;
  const seen = follow ? await growthOf(session, { workflowId, runId }) : '';
  if (last !== undefined && last.seen === seen) return;
  const run = await fetchAuditedRun(session, workflowId, runId);
  // A query may find workflows without a gate.
  if (skipsOthers && run.tree.secret === undefined && run.entries.length === 0) return;
  // Each execution continues a known run, or begins one: a reset begins another run.
  const known = runs.find((each) => !each.isClosed && run.executions.some((one) => one.runId === each.runId));
  const lines = known?.lines ?? new RunLines(runs.length + 1, withheld);
  const isClosed = !follow || !openStates.includes(run.status);
  const exported = { workflowId, runId, lines, seen, isClosed };
  if (known === undefined) runs.push(exported);
  else Object.assign(known, exported);
  yield* lines.part(run, isClosed);
}

/**
 * The states of an execution after which the run may have further events: after continue-as-new, the next poll finds
 * the next execution.
 */
const openStates: readonly string[] = ['RUNNING', 'CONTINUED_AS_NEW'];

function withholdable(names: readonly string[]): ReadonlySet<string> {
  const plain = names.find((name) => plainMembers.includes(name));
  if (plain === undefined) return new Set(names);
  throw new ProblemError({
    code: 'arguments_invalid',
    message: `'${plain}' cannot be withheld: every export shows ${plainMembers.join(', ')}`,
  });
}

/** `WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW` of Temporal's API. */
const continuedAsNew = 6;

/** Finds the runs of an export. Executions that continued as new belong to the run of the last one. */
async function findRuns(session: Session, scope: AuditScope): Promise<FoundRun[]> {
  if ('workflowId' in scope) return [await newestOf(session, scope.workflowId)];
  const found: FoundRun[] = [];
  for await (const page of listedExecutions(session, { query: scope.query, timeoutMs: 30_000 })) {
    for (const { execution, status } of page) {
      if (Number(status) === continuedAsNew) continue;
      found.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
    }
  }
  // Visibility lists the newest first.
  return found.toReversed();
}

async function newestOf(session: Session, workflowId: string): Promise<FoundRun> {
  const { runId } = await callServer(session, () => session.client.workflow.getHandle(workflowId).describe(), {
    workflowId,
  });
  return { workflowId, runId };
}

/** A text that changes whenever the history of an execution grows. */
async function growthOf(session: Session, { workflowId, runId }: FoundRun): Promise<string> {
  const { status, historyLength } = await callServer(
    session,
    () => session.client.workflow.getHandle(workflowId, runId).describe(),
    { workflowId },
  );
  return `${status.name} ${historyLength}`;
}
