import { sign as signBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLine, SealedLine, EntryContext, MessagePlace } from '../../audit/audit-line.ts';
import { auditFormat } from '../../audit/audit-line.ts';
import { plainMembers, committedLeaf, runTag, saltsOf, committable } from '../../core/ledger/commit-entry.ts';
import { sealer, entryLine } from '../../audit/entry-line.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { fetchAuditedRun, type AuditedRun } from './audited-run.ts';
import { callServer, type Session } from '../server/session.ts';
import { type ExecutionId, executionIdOf, listedExecutions } from '../server/memo-rows.ts';
import { publicKeyOf, readPrivateKey } from '../send/sign-message.ts';
import { emptyTree, rootOf, type TreeState, withLeaf } from '../../core/ledger/merkle.ts';
import type { PlacedEntry } from '../history/fetch-journal.ts';

/** What to export: a run by its workflow id, or all runs that a visibility query finds. */
export type AuditScope = { workflowId: string } | { query: string };

/** Options of `client.audit`. */
export interface AuditOptions {
  /** Members to leave out, such as `reason` or `arguments`. All other members can still be verified. Default: none. */
  withhold?: readonly string[];
  /** The Ed25519 key that signs each line: PEM without a passphrase, or 32 bytes in base64. Default: no signature. */
  privateKey?: string;
  /** If true, exports new lines until the run has ended; for a query, until `signal` aborts. Default false. */
  follow?: boolean;
  /** A signal that ends a followed export. The closing lines are still exported. */
  signal?: AbortSignal;
  /** The time between two polls of a followed export, in milliseconds. Default 2,000. */
  intervalMs?: number;
}

/** Exports the decisions of runs, line by line (docs/wire.md). Throws `run_not_found` and `arguments_invalid`. */
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
  const exporting = { runs, withheld, follow, skipsUngated: 'query' in scope };
  let entries = 0;
  const sealAndCount = (line: AuditLine): SealedLine => {
    if (line.line === 'entry') entries += 1;
    return seal(line);
  };
  // A run that does not exist is reported before the first line.
  let found = await findRuns(session, scope);
  yield seal(began);
  for (;;) {
    for (const run of found) {
      for await (const line of newLines(session, run, exporting)) yield sealAndCount(line);
    }
    const isOver = 'workflowId' in scope && runs.every(({ isClosed }) => isClosed);
    if (!follow || isOver || signal?.aborted === true) break;
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    found = await findRuns(session, scope);
  }
  // A run that is still open gets its head here, after its last new lines.
  for (const open of runs.filter(({ isClosed }) => !isClosed)) {
    const run = await fetchAuditedRun(session, open.workflowId, open.runId);
    for (const line of open.lines.part(run, true)) yield sealAndCount(line);
  }
  yield seal({ line: 'end', at: new Date().toISOString(), runs: runs.length, entries });
}

interface ExportedRun extends ExecutionId {
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
  /** True for a query, which may also find workflows without a gate. */
  skipsUngated: boolean;
}

/** Yields the lines of a run that are new since the last poll, if it has grown. Keeps its state in `runs`. */
async function* newLines(
  session: Session,
  { workflowId, runId }: ExecutionId,
  { runs, withheld, follow, skipsUngated }: Exporting,
): AsyncGenerator<AuditLine> {
  const lastPoll = runs.find((each) => each.runId === runId);
  if (lastPoll?.isClosed === true) return;
  const seen = follow ? await growthOf(session, { workflowId, runId }) : '';
  if (lastPoll?.seen === seen) return;
  const run = await fetchAuditedRun(session, workflowId, runId);
  if (skipsUngated && run.tree.secret === undefined && run.entries.length === 0) return;
  // If an earlier poll saw an execution of this run, its lines go on. After a reset, a new run begins.
  const known = runs.find((each) => !each.isClosed && run.executions.some((one) => one.runId === each.runId));
  const lines = known?.lines ?? new RunLines(runs.length + 1, withheld);
  const isClosed = !follow || !openStates.includes(run.status);
  const exported = { workflowId, runId, lines, seen, isClosed };
  if (known === undefined) runs.push(exported);
  else Object.assign(known, exported);
  yield* lines.part(run, isClosed);
}

/** The states of an execution after which its run may go on, in this execution or in the next one. */
const openStates: readonly string[] = ['RUNNING', 'CONTINUED_AS_NEW'];

function withholdable(names: readonly string[]): ReadonlySet<string> {
  const plain = names.find((name) => plainMembers.includes(name));
  if (plain === undefined) return new Set(names);
  const message = `'${plain}' cannot be withheld: every export shows ${plainMembers.join(', ')}`;
  throw new ProblemError({ code: 'arguments_invalid', message });
}

/** The number of `WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW` in Temporal's API. */
const continuedAsNew = 6;

/** Finds the last execution of each run. An execution that continued as new is not the last one. */
async function findRuns(session: Session, scope: AuditScope): Promise<ExecutionId[]> {
  if ('workflowId' in scope) return [await newestOf(session, scope.workflowId)];
  const found: ExecutionId[] = [];
  for await (const page of listedExecutions(session, { query: scope.query, timeoutMs: 30_000 })) {
    found.push(...page.filter(({ status }) => Number(status) !== continuedAsNew).map(executionIdOf));
  }
  // Visibility lists the newest first.
  return found.toReversed();
}

async function newestOf(session: Session, workflowId: string): Promise<ExecutionId> {
  const { runId } = await callServer(session, () => session.client.workflow.getHandle(workflowId).describe(), {
    workflowId,
  });
  return { workflowId, runId };
}

/** Returns a text that changes whenever the history of an execution grows. */
async function growthOf(session: Session, { workflowId, runId }: ExecutionId): Promise<string> {
  const { status, historyLength } = await callServer(
    session,
    () => session.client.workflow.getHandle(workflowId, runId).describe(),
    { workflowId },
  );
  return `${status.name} ${historyLength}`;
}

/** Makes the lines of one run. A followed run is read at each poll, and `part` returns only the lines that are new. */
export class RunLines {
  readonly #number: number;
  readonly #withheld: ReadonlySet<string>;
  #tree: TreeState | undefined;
  #lastSeq = 0;
  #activities = new Set<string>();

  constructor(run: number, withheld: ReadonlySet<string>) {
    this.#number = run;
    this.#withheld = withheld;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Yields the lines that are new since the last part. The part with `isLast` ends with the line of the head. */
  *part(run: AuditedRun, isLast: boolean): Generator<AuditLine> {
    const { secret, before } = run.tree;
    // Wait for the run's secret or first entry. Before, it is unknown whether the run commits itself to entries.
    if (!isLast && secret === undefined && run.entries.length === 0) return;
    if (this.#tree === undefined) yield this.#first(run);
    this.#tree ??= emptyTree;
    const saltOf = secret === undefined ? undefined : saltsOf(secret);
    const tagOfRun = runTag(run);
    const contextOf = contexts(run);
    for (const placed of run.entries) {
      const { entry, place } = placed;
      if (entry.seq <= this.#lastSeq) continue;
      // While the run goes on, wait for a missing entry: a later payload may contain it.
      if (entry.seq > this.#lastSeq + 1 && !isLast && before === undefined) break;
      yield* this.#gap(entry.seq, before);
      yield entryLine({
        run: this.#number,
        workflowId: run.workflowId,
        entry,
        context: { ...place, ...contextOf(entry, place) },
        saltOf,
        withheld: this.#withheld,
      });
      if (saltOf !== undefined) this.#tree = withLeaf(this.#tree, committedLeaf(entry, tagOfRun, saltOf));
      this.#lastSeq = entry.seq;
    }
    yield* this.#ran(run, isLast);
    if (!isLast) return;
    // Policies, arguments and their digests would reveal the withheld members.
    const evidence = this.#withheld.size > 0 ? [] : run.evidence;
    for (const part of evidence) {
      yield { line: 'evidence', run: this.#number, ...part, value: committable(part.value) };
    }
    yield this.#head(run);
  }

  /** Makes the line that begins the run, without withheld members. */
  #first(run: AuditedRun): AuditLine {
    const { workflowId, firstRunId, workflowType, startedAt, agent, caller, tree } = run;
    const showsCaller = caller !== undefined && !this.#withheld.has('caller');
    return {
      line: 'run',
      run: this.#number,
      workflowId,
      firstRunId,
      workflowType,
      startedAt,
      ...(agent !== undefined && !this.#withheld.has('agent') && { agent }),
      ...(showsCaller && { caller: committable(caller) }),
      committed: tree.secret !== undefined,
      ...(tree.before !== undefined && { before: tree.before }),
    };
  }

  /** Yields lines about the entries before `seq` that cannot be exported: removed by retention, or missing. */
  *#gap(seq: number, before: TreeState | undefined): Generator<AuditLine> {
    const first = this.#lastSeq + 1;
    if (seq === first) return;
    const isGone = first === 1 && before !== undefined && before.size < seq;
    if (isGone && before.size > 0) {
      yield { line: 'gap', run: this.#number, first, last: before.size, why: 'retention' };
      this.#tree = before;
    }
    const next = isGone ? before.size + 1 : first;
    if (next < seq) yield { line: 'gap', run: this.#number, first: next, last: seq - 1, why: 'missing' };
  }

  /** Yields the activities that were not exported yet: each once it has ended, and those still open at the end. */
  *#ran({ activities }: AuditedRun, isLast: boolean): Generator<AuditLine> {
    for (const activity of activities) {
      const key = `${activity.runId} ${activity.scheduledEventId}`;
      if (this.#activities.has(key) || (activity.state === 'open' && !isLast)) continue;
      this.#activities.add(key);
      const { worker: _, ...shown } = activity;
      yield { line: 'activity', run: this.#number, ...(this.#withheld.has('worker') ? shown : activity) };
    }
  }

  /** Makes the line that ends the run, with the head over all of its exported entries. */
  #head({ status, closedAt, executions, tree, unread }: AuditedRun): AuditLine {
    return {
      line: 'head',
      run: this.#number,
      status,
      ...(closedAt !== undefined && { closedAt }),
      executions: executions.length,
      size: this.#lastSeq,
      root: rootOf(this.#tree ?? emptyTree),
      ...(tree.head !== undefined && { recorded: tree.head }),
      ...(unread > 0 && { unread }),
    };
  }
}

/** The outcomes that only a message of a reviewer can bring about. */
const decided: readonly string[] = ['approved', 'denied', 'responded'];

type Entry = PlacedEntry['entry'];
type EventPlace = PlacedEntry['place'];

/** Returns a function that finds facts of the history about an entry: policies, the time it was open, its message. */
function contexts({
  entries,
  messages,
  userMessages,
  tree,
  executions,
}: AuditedRun): (entry: Entry, place: EventPlace) => Partial<EntryContext> {
  const decisionsByRequest = Map.groupBy(messages, ({ requestId }): string | undefined => requestId);
  const messagesByDigest = Map.groupBy(userMessages, ({ digest }): string | undefined => digest);
  const openedAt = new Map<string | undefined, string>();
  const policyDigests = new Map<number, string>();
  const order = new Map(executions.map(({ runId }, index) => [runId, index]));
  const isBefore = (one: EventPlace, other: EventPlace): boolean =>
    one.runId === other.runId ? one.eventId < other.eventId : order.get(one.runId)! < order.get(other.runId)!;
  let { policyDigest } = tree;
  for (const { entry } of entries) {
    if (entry.kind === 'opened') openedAt.set(entry.requestId, entry.at);
    policyDigest = entry.policyDigest ?? policyDigest;
    if (policyDigest !== undefined) policyDigests.set(entry.seq, policyDigest);
  }
  return (entry, place) => {
    const { seq, kind, outcome, requestId, digest, at } = entry;
    const opened = openedAt.get(requestId);
    const isAnswer = kind === 'vote' || kind === 'settled';
    const isDecided = kind === 'vote' || decided.includes(outcome ?? '');
    // Only an earlier message can have caused the entry. So every later export has the same message.
    const sent = (isDecided ? decisionsByRequest.get(requestId) : undefined) ?? [];
    const written = (kind === 'message' ? messagesByDigest.get(digest) : undefined) ?? [];
    const message =
      causeOf(
        entry,
        sent.filter((decision) => isBefore(decision.place, place)),
      ) ?? onlyMessage(written.filter((userMessage) => isBefore(userMessage.place, place)));
    return {
      ...(policyDigests.has(seq) && { policyDigest: policyDigests.get(seq) }),
      ...(isAnswer && opened !== undefined && { openForMs: Date.parse(at) - Date.parse(opened) }),
      ...(message !== undefined && { message }),
    };
  };
}

/** Returns the decision that caused an entry: the first with its id. Without an id, it must be the only decision. */
function causeOf({ decisionId }: Entry, sent: AuditedRun['messages']): MessagePlace | undefined {
  if (decisionId !== undefined) return sent.find((decision) => decision.decisionId === decisionId)?.place;
  return sent.length === 1 ? sent[0]!.place : undefined;
}

/** Returns the only message of the user; undefined if there are several. A message and its retries count as one. */
function onlyMessage(written: AuditedRun['userMessages']): MessagePlace | undefined {
  const [first, another] = written.filter(({ messageId }, index) => {
    return messageId === undefined || written.findIndex((each) => each.messageId === messageId) === index;
  });
  return another === undefined ? first?.place : undefined;
}
