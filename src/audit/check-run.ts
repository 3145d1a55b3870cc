import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { EntryLine, GapLine, HeadLine, RunLine } from './audit-line.ts';
import { runTag } from '../core/ledger/commit-entry.ts';
import { leafOfLine } from './entry-line.ts';
import type { AuditFinding } from './finding.ts';
import { type TreeState, emptyTree, rootOf, withLeaf } from '../core/ledger/merkle.ts';

/** A finding without its line number. */
export type RunFinding = Pick<AuditFinding, 'kind' | 'message' | 'seq'>;

/** Statuses in which a run may not have written its last entries and head. */
const cutOff: readonly string[] = ['RUNNING', 'TERMINATED', 'TIMED_OUT'];

/** Checks the order of a run's entries, and compares them with the heads that commit the run to them. */
export class RunCheck {
  readonly run: RunLine;
  /** Identifies the run in the hash of each entry. */
  readonly #runTag: string;
  readonly #older: JournalHead | undefined;
  #tree: TreeState;
  /** The roots of the trees over the first entries, by the number of entries. */
  #roots: string[] = [];
  #lastSeq = 0;
  /** False once an entry is missing, without which the tree cannot be computed. */
  #isWhole = true;
  readonly notes: string[] = [];

  /** `older` is the head of this run in an older export, if there is one. */
  constructor(namespace: string, run: RunLine, older: JournalHead | undefined) {
    this.run = run;
    this.#older = older;
    this.#runTag = runTag({ ...run, namespace });
    this.#tree = emptyTree;
  }

  /** The head over the entries so far. Undefined if an entry is missing, or if the run committed itself to none. */
  get head(): JournalHead | undefined {
    return this.run.committed && this.#isWhole ? { size: this.#lastSeq, root: rootOf(this.#tree) } : undefined;
  }

  /** Checks a gap. A finding if it is out of order, or if the older export has its entries; otherwise a note. */
  gap({ first, last, why }: GapLine): RunFinding | undefined {
    const wrong = this.#outOfOrder(first);
    if (wrong !== undefined || last < first)
      return wrong ?? { kind: 'unreadable', message: 'the gap ends before it begins' };
    const { before } = this.run;
    this.#lastSeq = last;
    const sizeOfOlder = this.#older?.size ?? 0;
    if (why === 'missing' && first <= sizeOfOlder) {
      this.#isWhole = false;
      const message = `entries ${first} to ${Math.min(last, sizeOfOlder)} are missing, and the older export has them`;
      return { kind: 'deleted', message, seq: first };
    }
    // The run's line has the tree over the entries that retention has removed, so the next entries are added to it.
    if (why === 'retention' && before?.size === last && first === 1) {
      this.#tree = before;
      this.#roots[last] = rootOf(before);
      this.notes.push(`entries ${first} to ${last} are gone with executions that retention has removed`);
    } else {
      this.#isWhole = false;
      this.notes.push(`entries ${first} to ${last} are in no payload of the history; the run's head cannot be checked`);
    }
    return undefined;
  }

  /** Checks an entry: its run, its position, its leaf in the tree, and that the older export has the same entry. */
  entry(line: EntryLine): RunFinding | undefined {
    const { entry, workflowId } = line;
    const { seq } = entry;
    if (workflowId !== this.run.workflowId) {
      const message = `entry ${seq} is of workflow '${workflowId}', and this run is '${this.run.workflowId}'`;
      return { kind: 'foreign', message, seq };
    }
    const wrong = this.#outOfOrder(seq);
    if (wrong !== undefined && wrong.kind !== 'deleted') return wrong;
    // Go on after missing entries, although the tree cannot be computed any more.
    if (wrong !== undefined) this.#isWhole = false;
    this.#lastSeq = seq;
    return wrong ?? this.#commit(line) ?? this.#differsFromOlder(seq);
  }

  /** Checks the head of a run, as far as it can: without a tree or with missing entries, only its size. */
  close(line: HeadLine): RunFinding | undefined {
    const { size, root, recorded, status } = line;
    if (size !== this.#lastSeq) {
      const message = `the head is over ${size} entries, and ${this.#lastSeq} are here`;
      return { kind: size > this.#lastSeq ? 'deleted' : 'repeated', message, seq: Math.min(size, this.#lastSeq) + 1 };
    }
    if (this.#older !== undefined && this.#older.size > size) {
      const message = `the older export has ${this.#older.size} entries of this run, and this one ${size}`;
      return { kind: 'deleted', message, seq: size + 1 };
    }
    if (!this.run.committed && recorded !== undefined) {
      return { kind: 'head', message: 'the run wrote a head, and its line says that it wrote none' };
    }
    if (!this.run.committed && this.#older !== undefined) {
      return { kind: 'head', message: 'the older export has a head of this run, and this one says that it has none' };
    }
    if (!this.run.committed || !this.#isWhole) return undefined;
    const isHead = root === rootOf(this.#tree);
    const wrong = isHead ? undefined : ({ kind: 'head', message: 'the entries do not lead to this head' } as const);
    return this.#differsFromRecorded(recorded, status) ?? wrong;
  }

  /** Compares the entries with the head that the run wrote. Notes those under no head, or missing in a run cut off. */
  #differsFromRecorded(recorded: HeadLine['recorded'], status: string): RunFinding | undefined {
    const last = this.#lastSeq;
    const covered = recorded?.size ?? 0;
    if (covered > last) {
      const message = `the run committed itself to ${covered} entries, and ${last} are here`;
      if (cutOff.includes(status)) this.notes.push(message);
      else return { kind: 'deleted', message, seq: last + 1 };
    } else if (recorded !== undefined && this.#roots[covered] !== undefined && this.#roots[covered] !== recorded.root) {
      const message = `entries 1 to ${covered} are not those to which the run committed itself in event ${recorded.eventId}`;
      return { kind: 'head', message, seq: 1 };
    } else if (covered < last && status !== 'RUNNING') {
      this.notes.push(`entries ${covered + 1} to ${last} are under no head that the run wrote`);
    }
    return undefined;
  }

  /** Returns a finding if `seq` is not the number of the next entry. */
  #outOfOrder(seq: number): RunFinding | undefined {
    const expected = this.#lastSeq + 1;
    if (seq === expected) return undefined;
    if (seq < expected) {
      return { kind: 'repeated', message: `entry ${seq} is here after entry ${this.#lastSeq}`, seq };
    }
    const what = seq === expected + 1 ? `entry ${expected} is` : `entries ${expected} to ${seq - 1} are`;
    return { kind: 'deleted', message: `${what} missing before entry ${seq}`, seq: expected };
  }

  /** Adds an entry to the tree, if it can be computed. A finding if the run cannot have written its salts or values. */
  #commit(line: EntryLine): RunFinding | undefined {
    const { seq } = line.entry;
    if (!this.run.committed && line.salts !== undefined) {
      return { kind: 'edited', message: `entry ${seq} has salts, and its run says that it has none`, seq };
    }
    if (!this.run.committed || !this.#isWhole) return undefined;
    const found = leafOfLine(this.#runTag, line);
    if ('problem' in found) {
      this.#isWhole = false;
      return { kind: 'edited', message: `entry ${seq} is not as it was written: ${found.problem}`, seq };
    }
    this.#tree = withLeaf(this.#tree, found.leaf);
    this.#roots[seq] = rootOf(this.#tree);
    return undefined;
  }

  /** At the last entry of the older export, compares the tree with that of the older export. */
  #differsFromOlder(seq: number): RunFinding | undefined {
    const older = this.#older;
    if (older?.size !== seq || !this.#isWhole || !this.run.committed || this.#roots[seq] === older.root)
      return undefined;
    return { kind: 'head', message: `entries 1 to ${seq} are not those of the older export`, seq: 1 };
  }
}
