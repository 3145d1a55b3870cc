import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { memoName } from '../contract.ts';
import { approvalIndex, approvalMemo } from '../core/approval-index.ts';
import type { AttributeNames } from '../core/attribute-names.ts';
import type { BookedRequest } from '../core/ledger.ts';
import { isUndecodable } from '../core/undecodable.ts';
import type { Book } from './book.ts';
import { currentDetails } from './current-details.ts';

/** Writes what the inbox and Temporal's UI show of a run, when the set of its open requests has changed. */
export class IndexWriter {
  readonly #book: Book;
  /** The open requests as the index last showed them; the next link inherits what it shows. */
  #shown: BookedRequest[];
  /** Recorded in the run, so nothing is written before the run knows them. */
  #names: AttributeNames | undefined;

  constructor(book: Book) {
    this.#book = book;
    this.#shown = book.ledger.open;
    if (this.#shown.length > 0) setCurrentDetails(currentDetails(book.ledger));
  }

  /** The names of the attributes, as the run recorded them. */
  use(names: AttributeNames): void {
    this.#names = names;
  }

  get needsAttention(): boolean {
    return this.#names !== undefined && this.#book.ledger.open !== this.#shown;
  }

  attend(): void {
    const names = this.#names;
    if (names === undefined || !this.needsAttention) return;
    const { ledger } = this.#book;
    this.#shown = ledger.open;
    const { ids, tags, dueMs } = approvalIndex(ledger);
    const { KEYWORD_LIST, DATETIME } = SearchAttributeType;
    const list = (values: string[]): string[] | null => (values.length === 0 ? null : values);
    upsertSearchAttributes([
      { key: defineSearchAttributeKey(names.ids, KEYWORD_LIST), value: list(ids) },
      ...(names.tags === null ? [] : [{ key: defineSearchAttributeKey(names.tags, KEYWORD_LIST), value: list(tags) }]),
      { key: defineSearchAttributeKey(names.due, DATETIME), value: dueMs === null ? null : new Date(dueMs) },
    ]);
    const { memo, rest } = approvalMemo(ledger, this.#book.takeJournal());
    this.#book.putBack(rest);
    upsertMemo({ [memoName]: memo });
    setCurrentDetails(currentDetails(ledger));
  }

  /** What the journal still holds goes to the memo: no other payload will follow. */
  writeLast(): void {
    this.attend();
    for (let entries = this.#book.takeJournal(); entries.length > 0;) {
      const { memo, rest } = approvalMemo(this.#book.ledger, entries);
      upsertMemo({ [memoName]: memo });
      // An entry too large for any memo is left out: readers see the gap.
      entries = rest.length < entries.length ? rest : rest.slice(1);
    }
  }

  /** The next link's memo: continue-as-new does not carry what a link wrote there. */
  memo(): Record<string, unknown> {
    const kept = Object.entries(workflowInfo().memo ?? {}).filter(([, value]) => !isUndecodable(value));
    return { ...Object.fromEntries(kept), [memoName]: approvalMemo(this.#book.ledger, []).memo };
  }
}
