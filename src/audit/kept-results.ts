import type { JournalEntry } from '../core/ledger/journal-entry.ts';

/** The calls of a run that gave a result, by the journal: only these can have answered an equal call. */
export class KeptResults {
  /** The digest of what last passed the gate, by call id. */
  readonly #admitted = new Map<string, string>();
  readonly #ran = new Map<string, string | undefined>();

  take({ kind, callId, digest, ran, code }: JournalEntry): void {
    if (callId === undefined) return;
    if (kind === 'ran' && ran === 'yes' && code === undefined) this.#ran.set(callId, this.#admitted.get(callId));
    else if (digest !== undefined) this.#admitted.set(callId, digest);
  }

  /** What is wrong with an entry that says that an earlier result answered its call, as one clause. */
  problem({ outcome, resultOf = '', digest }: JournalEntry): string | undefined {
    if (outcome !== 'cached' || this.#ran.get(resultOf) === digest) return undefined;
    return 'the call whose result answers it gave none, or is not equal to it';
  }
}
