import type { AuditLine, EntryContext, MessagePlace } from '../../audit/audit-line.ts';
import { entryLine } from '../../audit/entry-line.ts';
import { emptyTree, rootOf, type TreeState, withLeaf } from '../../core/ledger/merkle.ts';
import { committedLeaf, runTag, saltsOf, committable } from '../../core/ledger/commit-entry.ts';
import type { AuditedRun } from './audited-run.ts';
import type { PlacedEntry } from '../history/fetch-journal.ts';

/**
 * The lines of one run. A followed run is read several times, and each reading gives one part: the lines that are new
 * since the last part. `run`: the run's number in the export. `withheld`: the members that the export leaves out.
 */
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

  /** The number of entries and gaps so far. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /**
   * Yields the lines that are new since the last part. `isLast`: true for the last part, which ends with the line of
   * the head.
   */
  *part(run: AuditedRun, isLast: boolean): Generator<AuditLine> {
    const { secret, before } = run.tree;
    // A run that has only begun does not show yet whether it commits itself to its entries.
    if (!isLast && secret === undefined && run.entries.length === 0) return;
    if (this.#tree === undefined) yield this.#first(run);
    this.#tree ??= emptyTree;
    const saltOf = secret === undefined ? undefined : saltsOf(secret);
    const tag = runTag(run);
    const contextOf = contexts(run);
    for (const placed of run.entries) {
      const { entry, place } = placed;
      if (entry.seq <= this.#lastSeq) continue;
      // Entries before this one may still arrive with a later payload: while the run goes on, wait for them.
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
      if (saltOf !== undefined) this.#tree = withLeaf(this.#tree, committedLeaf(entry, tag, saltOf));
      this.#lastSeq = entry.seq;
    }
    yield* this.#ran(run, isLast);
    if (!isLast) return;
    // Policies, arguments and the digests that name them would reveal the withheld members.
    const evidence = this.#withheld.size > 0 ? [] : run.evidence;
    for (const part of evidence) {
      yield { line: 'evidence', run: this.#number, ...part, value: committable(part.value) };
    }
    yield this.#head(run);
  }

  /** The line that begins a run, without the members that the export withholds. */
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

  /** Yields the activities that have ended; in the last part also those that are still open. */
  *#ran({ activities }: AuditedRun, isLast: boolean): Generator<AuditLine> {
    for (const activity of activities) {
      const key = `${activity.runId} ${activity.scheduledEventId}`;
      if (this.#activities.has(key) || (activity.state === 'open' && !isLast)) continue;
      this.#activities.add(key);
      const { worker: _, ...shown } = activity;
      yield { line: 'activity', run: this.#number, ...(this.#withheld.has('worker') ? shown : activity) };
    }
  }

  /** The line that ends a run: its status, and the head of its journal. */
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

/** The outcomes that a reviewer's message decides. */
const decided: readonly string[] = ['approved', 'denied', 'responded'];

type Entry = PlacedEntry['entry'];
type EventPlace = PlacedEntry['place'];

/**
 * Returns a function that gives the facts of the history about an entry, except its place. Call that function with the
 * entries in their order.
 */
function contexts({
  entries,
  messages,
  said,
  tree,
  executions,
}: AuditedRun): (entry: Entry, place: EventPlace) => Partial<EntryContext> {
  const decisions = Map.groupBy(messages, ({ requestId }): string | undefined => requestId);
  const texts = Map.groupBy(said, ({ digest }): string | undefined => digest);
  const openedAt = new Map<string | undefined, string>();
  const digests = new Map<number, string>();
  const order = new Map(executions.map(({ runId }, index) => [runId, index]));
  // Only an earlier message can have led to an entry. Later messages are ignored, so every later export gives the same
  // answer.
  const isBefore = (one: EventPlace, other: EventPlace): boolean =>
    one.runId === other.runId ? one.eventId < other.eventId : order.get(one.runId)! < order.get(other.runId)!;
  let { policyDigest } = tree;
  for (const { entry } of entries) {
    if (entry.kind === 'opened') openedAt.set(entry.requestId, entry.at);
    policyDigest = entry.policyDigest ?? policyDigest;
    if (policyDigest !== undefined) digests.set(entry.seq, policyDigest);
  }
  /**
   * The message with this text before a place. Undefined if several messages, not counting retries, have the text: it
   * is unknown which one is meant.
   */
  const messageBefore = (digest: string | undefined, place: EventPlace): MessagePlace | undefined => {
    const same = (texts.get(digest) ?? []).filter((each) => isBefore(each.place, place));
    const [first, another] = same.filter(
      ({ messageId }, index) =>
        messageId === undefined || same.findIndex((each) => each.messageId === messageId) === index,
    );
    return another === undefined ? first?.place : undefined;
  };
  return ({ seq, kind, outcome, requestId, decisionId, digest, at }, place) => {
    const opened = openedAt.get(requestId);
    const isAnswer = kind === 'vote' || kind === 'settled';
    const isDecided = kind === 'vote' || decided.includes(outcome ?? '');
    const sent = isDecided ? (decisions.get(requestId) ?? []) : [];
    const about = sent.filter((each) => isBefore(each.place, place));
    const exact = about.filter((each) => each.decisionId === decisionId);
    // A repeated message counts once. Without a decision id, the message is known only if no other message is about the
    // request.
    const [message, another] = decisionId === undefined ? about : exact.slice(0, 1);
    return {
      ...(digests.has(seq) && { policyDigest: digests.get(seq) }),
      ...(isAnswer && opened !== undefined && { openForMs: Date.parse(at) - Date.parse(opened) }),
      ...(message !== undefined && another === undefined && { message: message.place }),
      ...messageMember(kind === 'message' ? messageBefore(digest, place) : undefined),
    };
  };
}

function messageMember(message: MessagePlace | undefined): Pick<EntryContext, 'message'> {
  return message === undefined ? {} : { message };
}
