import { workflowInfo } from '@temporalio/workflow';
import type { Receipt } from '../core/approval.ts';
import type { ParsedDecision } from '../core/decision.ts';
import type { JournalEntry } from '../core/journal-entry.ts';
import type { Ledger, LedgerCommand } from '../core/ledger.ts';
import { emptyLedger, reduce } from '../core/ledger.ts';
import type { ProblemCode } from '../core/problem.ts';
import { engine } from '../core/ruling.ts';
import { sizeOf } from '../core/undecodable.ts';
import { activation } from './activation.ts';

/** What continue-as-new carries of a gate (I11). */
export interface BookSnapshot {
  ledger: Ledger;
  /** Journal entries that no payload has carried yet. */
  journal: JournalEntry[];
}

/** The run's ledger as it stands, and the journal entries that wait for a payload. Signal, update and timer all write here. */
export class Book {
  #ledger: Ledger;
  #journal: JournalEntry[];
  /** What was taken in the activation of this number. */
  #taken: { activation: number; entries: JournalEntry[] } = { activation: 0, entries: [] };
  /** Updates that this link accepted; the server counts them for each link. */
  updates = 0;

  constructor(snapshot?: BookSnapshot) {
    this.#ledger = snapshot?.ledger ?? emptyLedger(engine);
    this.#journal = snapshot?.journal ?? [];
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  apply(command: LedgerCommand): Receipt | undefined {
    const { ledger, entries, receipt } = reduce(this.#ledger, command);
    this.#ledger = ledger;
    this.#journal.push(...entries);
    return receipt;
  }

  /** Applies a decision as of `atMs`, and counts it if it changed nothing. */
  decide(decision: ParsedDecision, atMs: number): Receipt {
    const receipt = this.apply({ kind: 'decide', atMs, decision })!;
    if (receipt.code !== undefined) this.refuse(receipt.code, sizeOf(decision), decision.requestId);
    return receipt;
  }

  /** What `decide` would answer now; changes nothing. */
  preview(decision: ParsedDecision): Receipt {
    return reduce(this.#ledger, { kind: 'decide', atMs: Date.now(), decision }).receipt!;
  }

  /** Counts what changed nothing: its code and size, never its content (I4). */
  refuse(code: ProblemCode, size: number, requestId?: string): void {
    const refused = { code, ...(requestId === undefined ? {} : { requestId }), size };
    this.apply({ kind: 'refuse', atMs: Date.now(), refused });
  }

  /** The entries that no payload has carried yet; the caller writes them into the payload at hand (design section 6). */
  takeJournal(): JournalEntry[] {
    const entries = this.#journal;
    this.#journal = [];
    if (this.#taken.activation !== activation.number) this.#taken = { activation: activation.number, entries: [] };
    this.#taken.entries.push(...entries);
    return entries;
  }

  /**
   * Gives back what was taken in this activation: an activity that is cancelled in the activation that scheduled it
   * is never sent, nor is what was to ride in it. Readers know an entry that they see twice by its number.
   */
  takeBack(): void {
    if (this.#taken.activation !== activation.number) return;
    const bySeq = new Map([...this.#taken.entries, ...this.#journal].map((entry) => [entry.seq, entry]));
    this.#journal = [...bySeq.values()];
  }

  /** Entries that did not fit: they ride on the next payload. */
  putBack(entries: JournalEntry[]): void {
    this.#journal = [...entries, ...this.#journal];
  }

  /** True when this link has grown enough by Temporal's hint or by these budgets (I11). */
  outgrew(budget: { historyEvents: number; updates: number }): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength >= budget.historyEvents || this.updates >= budget.updates;
  }
}
