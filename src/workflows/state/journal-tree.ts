import { workflowInfo } from '@temporalio/workflow';
import { type TreeState, emptyTree, rootOf, withLeaf } from '../../core/ledger/merkle.ts';
import { committedLeaf, runTag, saltsOf } from '../../core/ledger/commit-entry.ts';
import type { JournalEntry, JournalHead } from '../../core/ledger/journal-entry.ts';

/**
 * The Merkle tree over all journal entries of the run (docs/audit.md). It grows with the journal, and continue-as-new
 * carries its frontier. A run that ends before its policies are known has none.
 */
export class JournalTree {
  #tree: TreeState = emptyTree;
  #leafOf: ((entry: JournalEntry) => string) | undefined;
  /** Entries from before the secret is known. */
  #early: JournalEntry[] = [];

  /** Takes the tree that the execution before this one carried. Call `begin` next. */
  restore(tree: TreeState): void {
    this.#tree = tree;
  }

  /** Begins with the secret that the run recorded. Repeating it is harmless. */
  begin(secret: string): void {
    if (this.#leafOf !== undefined) return;
    const { namespace, workflowId, firstExecutionRunId: firstRunId } = workflowInfo();
    const tag = runTag({ namespace, workflowId, firstRunId });
    const saltOf = saltsOf(secret);
    this.#leafOf = (entry) => committedLeaf(entry, tag, saltOf);
    for (const entry of this.#early.splice(0)) this.add(entry);
  }

  add(entry: JournalEntry): void {
    if (this.#leafOf === undefined) this.#early.push(entry);
    else this.#tree = withLeaf(this.#tree, this.#leafOf(entry));
  }

  /** For continue-as-new. */
  get carried(): TreeState {
    return this.#tree;
  }

  /** Commits the run to all entries so far; undefined before `begin`. */
  get head(): JournalHead | undefined {
    return this.#leafOf && { size: this.#tree.size, root: rootOf(this.#tree) };
  }
}
