import { workflowInfo } from '@temporalio/workflow';
import type { Receipt } from '../core/approval.ts';
import { hideInEntry } from '../core/hidden-arguments.ts';
import type { JournalEntry } from '../core/journal-entry.ts';
import type { Directories, Ledger, LedgerCommand } from '../core/ledger.ts';
import { emptyLedger, reduce } from '../core/ledger.ts';
import type { ProblemCode } from '../core/problem.ts';
import { engine } from '../core/ruling.ts';
import type { PolicyChange } from '../core/run-side.ts';
import { activation } from './activation.ts';
import { LookedInto } from './looked-into.ts';

/** Signatures that a link looks at before it continues as new: its replay looks at them all again, and is to take under a second. */
export const checksOfLink = 50;

/** What continue-as-new carries of a gate (I11). */
export interface BookSnapshot {
  ledger: Ledger;
  /** Journal entries that no payload has carried yet. */
  journal: JournalEntry[];
  /** What `setPolicy` last changed. */
  change?: PolicyChange;
  /** Why the run is closing, once somebody closed it. */
  closing?: string;
}

/** The run's ledger as it stands, and the journal entries that wait for a payload. Signal, update and timer all write here. */
export class Book {
  readonly lookedInto = new LookedInto();
  #ledger: Ledger;
  #journal: JournalEntry[];
  /** What was taken in the activation of this number. */
  #taken: { activation: number; entries: JournalEntry[] } = { activation: 0, entries: [] };
  /** Updates that this link accepted; the server counts them for each link. */
  updates = 0;
  /** Signatures that this link looked at (sender.ts). */
  checks = 0;
  /** How all grants were last revoked: what is looked into meanwhile leaves none. */
  lastRevocation: Extract<LedgerCommand, { kind: 'revoke' }> | undefined;
  /** Who belongs to which group, by the rules in force. */
  directories: Directories = {};
  /** The agent in charge. */
  agent: string | undefined;
  /** Whether reviewers are shown arguments, by the rules in force; not before these are known. */
  showsArguments = false;

  /** What waits until the rules are known; undefined once they are. */
  #early: { act: () => void; eventId: string }[] | undefined = [];
  /** How far this link has grown, as of the last activation that history keeps. */
  #grown = growth();

  constructor(snapshot?: BookSnapshot) {
    this.#ledger = snapshot?.ledger ?? emptyLedger(engine);
    this.#journal = snapshot?.journal ?? [];
    activation.onStart(() => (this.#grown = growth()));
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** False in the first moments of a link: who may decide, and what changes mean, is not known then. */
  get isGoverned(): boolean {
    return this.#early === undefined;
  }

  /** Calls `act` once the rules are known. `eventId`: the history event that brought it; an update has none. */
  whenGoverned(act: () => void, eventId = ''): void {
    this.#early!.push({ act, eventId });
  }

  /**
   * The rules are known: what came before them is looked at now, in the order in which it came, updates last. It was
   * handed over by the names of its handlers, as these were set.
   */
  becomeGoverned(): void {
    const place = (eventId: string): number => (eventId === '' ? Number.MAX_SAFE_INTEGER : Number(eventId));
    const early = (this.#early ?? []).toSorted((one, other) => place(one.eventId) - place(other.eventId));
    this.#early = undefined;
    for (const { act } of early) act();
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

  /** What somebody is told who asks for `command`; what changed nothing is counted. */
  answer(command: LedgerCommand, size: number): Receipt {
    const requestId = requestIdOf(command);
    const receipt = this.apply(command) ?? { requestId, accepted: true, message: 'done' };
    if (receipt.code !== undefined) this.refuse(receipt.code, size, requestId);
    return receipt;
  }

  /** What `answer` would say now; changes nothing. */
  preview(command: LedgerCommand): Receipt {
    return (
      reduce(this.#ledger, command, this.directories).receipt ?? {
        requestId: requestIdOf(command),
        accepted: true,
        message: 'done',
      }
    );
  }

  /** Counts what changed nothing: its code and size, never its content (I4). */
  refuse(code: ProblemCode, size: number, requestId?: string): void {
    const refused = { code, ...(requestId === undefined || requestId === '' ? {} : { requestId }), size };
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
    const { continueAsNewSuggested, historyLength } = this.#grown;
    const isLong = continueAsNewSuggested || historyLength >= budget.historyEvents;
    return isLong || this.updates >= budget.updates || this.checks >= checksOfLink;
  }
}

function growth(): { continueAsNewSuggested: boolean; historyLength: number } {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return { continueAsNewSuggested, historyLength };
}

function requestIdOf(command: LedgerCommand): string {
  if (command.kind === 'decide') return command.decision.requestId;
  return 'requestId' in command ? command.requestId : '';
}
