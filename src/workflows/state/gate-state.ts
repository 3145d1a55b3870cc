import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { Receipt } from '../../core/ledger/approval.ts';
import { hideInEntry } from '../../core/ledger/hidden-arguments.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import type { Directories, Ledger, LedgerCommand } from '../../core/ledger/ledger.ts';
import { emptyLedger, reduce } from '../../core/ledger/ledger.ts';
import type { ProblemCode } from '../../core/base/problem.ts';
import { engine } from '../../core/policy/ruling.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { activation } from '../sandbox/activation.ts';
import { isContinued } from './carried.ts';

/** Signatures that an execution verifies before it continues as new: its replay verifies them all again, in under a second. */
export const checksOfExecution = 50;

/** Lookups of messages (new policies, edits) after which an execution continues as new: each one is seven events or so. */
export const lookupsOfExecution = 50;

/** What continue-as-new carries of a gate (I11). */
export interface GateSnapshot {
  ledger: Ledger;
  /** Journal entries that no payload has carried yet. */
  journal: JournalEntry[];
  /** What `setPolicy` last changed. */
  change?: PolicyChange;
  /** Why the run is closing, once somebody closed it. */
  closing?: string;
}

/** The ledger as it stands, and the journal entries that wait for a payload. Every change of the gate goes through `apply`. */
export class GateState {
  #ledger: Ledger = emptyLedger(engine);
  #journal: JournalEntry[] = [];
  /** What was taken in the activation of this number. */
  #taken: { activation: number; entries: JournalEntry[] } = { activation: 0, entries: [] };
  /** Updates that this execution accepted; the server limits them for each execution. */
  updates = 0;
  /** Signatures that this execution verified (messages/authenticate.ts). */
  checks = 0;
  /** Activities that this execution scheduled to find something out about a message. */
  lookups = 0;
  /** How all grants were last revoked: an edit that was in flight then leaves none. */
  lastRevocation: Extract<LedgerCommand, { kind: 'revoke' }> | undefined;
  /** Who belongs to which group, by the policies in force. */
  directories: Directories = {};
  /** The agent in charge. */
  agent: string | undefined;
  /** Whether reviewers are shown arguments, by the policies in force; false until these are known. */
  showsArguments = false;
  /** Why the run is closing; undefined while it is not. */
  closing: string | undefined;
  /** False until a continued execution has taken up what the one before it carried. */
  #knowsPast = !isContinued();
  #grown = growth();
  #writtenIn = 0;

  /** Takes the place of the empty ledger, to which nothing has been written: messages wait until the policies are known. */
  restore({ ledger, journal, closing }: GateSnapshot): void {
    this.#ledger = ledger;
    this.#journal = journal;
    this.closing = closing;
    this.#knowsPast = true;
  }

  /** Says that the execution has begun: with what it took up, or with nothing. */
  begin(): void {
    this.#knowsPast = true;
  }

  /** Throws where an answer would say that there is nothing, only because the past is not known yet. */
  requirePast(): void {
    if (!this.#knowsPast) throw ApplicationFailure.nonRetryable(sentences.notTakenUp, 'no_worker');
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  apply(command: LedgerCommand): Receipt | undefined {
    const { ledger, entries, receipt } = reduce(this.#ledger, command, this.directories);
    this.#ledger = ledger;
    const shown = this.showsArguments ? entries : entries.map(hideInEntry);
    this.#journal.push(...shown.map((entry) => this.#named(entry)));
    return receipt;
  }

  /** A run may be handed over: the entries of its calls say whose they were. */
  #named(entry: JournalEntry): JournalEntry {
    const isOfCall = entry.kind === 'ruling' || entry.kind === 'opened';
    return isOfCall && this.agent !== undefined ? { ...entry, agent: this.agent } : entry;
  }

  /** Settles everything open as cancelled. */
  cancelOpen(reason: string): void {
    for (const { request } of this.#ledger.open) {
      this.apply({ kind: 'cancel', atMs: Date.now(), requestId: request.requestId, reason });
    }
  }

  /** Applies what a sender asks for, and says what came of it. */
  answer(command: LedgerCommand): Receipt {
    return this.apply(command) ?? done(command);
  }

  /** What `answer` would say now; changes nothing. */
  preview(command: LedgerCommand): Receipt {
    return reduce(this.#ledger, command, this.directories).receipt ?? done(command);
  }

  /** Counts what changed nothing: its code and size, never its content (I4). */
  refuse(code: ProblemCode, size: number, requestId?: string): void {
    const refused = { code, ...(requestId === undefined || requestId === '' ? {} : { requestId }), size };
    this.apply({ kind: 'refuse', atMs: Date.now(), refused });
  }

  /** The entries that no payload has carried yet; the caller writes them into the payload at hand. */
  takeJournal(): JournalEntry[] {
    const entries = this.#journal;
    this.#journal = [];
    if (this.#taken.activation !== activation.number) this.#taken = { activation: activation.number, entries: [] };
    this.#taken.entries.push(...entries);
    return entries;
  }

  /**
   * Gives back what was taken in this activation: an activity that is cancelled in the activation that scheduled it
   * is never sent, nor are the entries in its input. Readers drop an entry whose number they have seen.
   */
  takeBack(): void {
    if (this.#taken.activation !== activation.number) return;
    const bySeq = new Map([...this.#taken.entries, ...this.#journal].map((entry) => [entry.seq, entry]));
    this.#journal = [...bySeq.values()];
  }

  /** Entries that did not fit ride on the next payload. */
  putBack(entries: JournalEntry[]): void {
    this.#journal = [...entries, ...this.#journal];
  }

  /** Says that the gate writes a command in this activation, so that its task is not empty. */
  noteCommand(): void {
    this.#writtenIn = activation.number;
  }

  /** True if the gate has written a command in this activation. */
  get hasWritten(): boolean {
    return this.#writtenIn === activation.number;
  }

  /**
   * Looks at how far the history has grown. Only in an activation that certainly writes a command: the history of any
   * other one may be handed over with the next on replay, when it has grown further (I12).
   */
  noteGrowth(): void {
    this.#grown = growth();
  }

  /** True when this execution has grown enough by Temporal's hint or by these budgets (I11). */
  outgrew(budget: { historyEvents: number; updates: number }): boolean {
    const { continueAsNewSuggested, historyLength } = this.#grown;
    const isLong = continueAsNewSuggested || historyLength >= budget.historyEvents;
    const isBusy = this.checks >= checksOfExecution || this.lookups >= lookupsOfExecution;
    return isLong || isBusy || this.updates >= budget.updates;
  }
}

function growth(): { continueAsNewSuggested: boolean; historyLength: number } {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return { continueAsNewSuggested, historyLength };
}

function done(command: LedgerCommand): Receipt {
  const requestId = 'requestId' in command ? command.requestId : '';
  return { requestId, accepted: true, message: 'done' };
}
