import { workflowInfo } from '@temporalio/workflow';
import { type TreeState, emptyTree, rootOf, withLeaf } from '../../core/ledger/merkle.ts';
import { committedLeaf, runTag, saltsOf } from '../../core/ledger/commit-entry.ts';
import type { JournalEntry, JournalHead } from '../../core/ledger/journal-entry.ts';

/**
 * The Merkle tree over all journal entries of the run (docs/audit.md). It grows with the journal, and continue-as-new
 * carries its frontier. Runs that recorded no secret for their salts have none.
 */
export class JournalTree {
  #tree: TreeState | undefined;
  #isLost = false;
  #leafOf: ((entry: JournalEntry) => string) | undefined;
  /** Entries from before the secret is known. */
  #early: JournalEntry[] = [];

  /**
   * Takes the tree that the execution before this one carried, and the number of its entries. An older worker carries no
   * tree, and then the run has none any more. Call `begin` next.
   */
  restore(tree: TreeState | undefined, entries: number): void {
    this.#isLost = (tree?.size ?? 0) !== entries;
    this.#tree = tree;
  }

  /** Begins with the secret that the run recorded; undefined in runs of older versions. Repeating it is harmless. */
  begin(secret: string | undefined): void {
    if (secret === undefined || this.#isLost || this.#leafOf !== undefined) return;
    const { namespace, workflowId, firstExecutionRunId: firstRunId } = workflowInfo();
    const tag = runTag({ namespace, workflowId, firstRunId });
    const saltOf = saltsOf(secret);
    this.#leafOf = (entry) => committedLeaf(entry, tag, saltOf);
    this.#tree ??= emptyTree;
    for (const entry of this.#early.splice(0)) this.add(entry);
  }

  add(entry: JournalEntry): void {
    if (this.#leafOf === undefined || this.#tree === undefined) this.#early.push(entry);
    else this.#tree = withLeaf(this.#tree, this.#leafOf(entry));
  }

  /** For continue-as-new. */
  get carried(): TreeState | undefined {
    return this.#tree;
  }

  /** Commits the run to all entries so far. */
  get head(): JournalHead | undefined {
    const tree = this.#tree;
    return tree && { size: tree.size, root: rootOf(tree) };
  }
}
