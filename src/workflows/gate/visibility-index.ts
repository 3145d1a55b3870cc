import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { journalMemoName, memoName, decideName } from '../../contract.ts';
import { approvalIndex, approvalMemo, type ApprovalMemo } from '../../core/ledger/approval-index.ts';
import type { AttributeNames } from '../../core/base/attribute-names.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import type { RequestRecord, Ledger } from '../../core/ledger/ledger.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { GateState } from '../state/gate-state.ts';
import { escapeText, escapeUnseen } from '../../core/base/text.ts';
import { waitingFor } from '../../core/ledger/waiting-for.ts';
import { clock } from '../sandbox/clock.ts';
import type { Messages } from '../messages/receive-messages.ts';
import type { ScheduledTask } from '../state/scheduler.ts';

/** Writes what the inbox and Temporal's UI show of a run, whenever its set of open requests has changed. */
export class VisibilityIndex {
  readonly #state: GateState;
  /** The open requests that the index shows; the next execution inherits the index. */
  #indexedRequests: RequestRecord[];
  /** The JSON of the rows that this execution has written last. */
  #rows: string | undefined;
  /** How many journal entries the last Merkle head covers that this execution has written. */
  #committed = 0;
  /** The names of the search attributes, as the run recorded them. Nothing is written before they are known. */
  #names: AttributeNames | undefined;

  constructor(state: GateState) {
    this.#state = state;
    this.#indexedRequests = state.ledger.open;
  }

  /** Takes over the index that the previous execution wrote. Call it after the ledger is restored. */
  restore(): void {
    this.#indexedRequests = this.#state.ledger.open;
    if (this.#indexedRequests.length > 0) setCurrentDetails(currentDetails(this.#state.ledger));
  }

  use(names: AttributeNames): void {
    this.#names = names;
  }

  get isDue(): boolean {
    return this.#names !== undefined && this.#state.ledger.open !== this.#indexedRequests;
  }

  /** If the open requests have changed, writes the search attributes, the memo and the details in Temporal's UI. */
  run(): void {
    const names = this.#names;
    if (names === undefined || !this.isDue) return;
    const { ledger } = this.#state;
    this.#indexedRequests = ledger.open;
    const { ids, tags, dueMs } = approvalIndex(ledger);
    const { KEYWORD_LIST, DATETIME } = SearchAttributeType;
    // The server removes an attribute that is an empty list. Null would not do, because other SDKs fail to read it.
    const list = (name: string, value: string[]) => ({ key: defineSearchAttributeKey(name, KEYWORD_LIST), value });
    upsertSearchAttributes([
      list(names.ids, ids),
      ...(names.tags === null ? [] : [list(names.tags, tags)]),
      dueMs === null
        ? list(names.due, [])
        : // oxlint-disable-next-line no-restricted-globals -- it converts a given instant
          { key: defineSearchAttributeKey(names.due, DATETIME), value: new Date(dueMs) },
    ]);
    const { memo, rest } = this.#memoOf(this.#state.takeJournal());
    this.#state.putBack(rest);
    this.#writeMemo(memo);
    setCurrentDetails(currentDetails(ledger));
    this.#state.noteCommand();
  }

  /**
   * Writes the journal into a memo, for an activation that needs a command and has none: a replay would merge its task
   * with the next one (I12). Writes the rows of the requests, too, if a policy has changed who can answer them.
   */
  writeJournal(): void {
    const { memo, rest } = this.#memoOf(this.#state.takeJournal());
    this.#state.putBack(rest);
    const isStale =
      this.#state.ledger.open === this.#indexedRequests &&
      this.#rows !== undefined &&
      JSON.stringify(memo.open) !== this.#rows;
    if (isStale) this.#writeMemo(memo);
    else this.#write(journalMemoName, { journal: memo.journal });
    this.#state.noteCommand();
  }

  /** Writes the rest of the journal, and the Merkle head over all of it, to the memo: no other payload will follow. */
  writeLast(): void {
    this.run();
    for (let entries = this.#state.takeJournal(); entries.length > 0;) {
      const { memo, rest } = this.#memoOf(entries);
      this.#writeMemo(memo);
      // Leave out an entry that is too large for any memo: readers see the gap.
      entries = rest.length < entries.length ? rest : rest.slice(1);
    }
    // An activity may have carried the last entries without the Merkle head over them.
    if ((this.#state.head.journalHead?.size ?? 0) > this.#committed) {
      this.#writeMemo(this.#memoOf([]).memo);
    }
  }

  #memoOf(entries: JournalEntry[]): ReturnType<typeof approvalMemo> {
    const { ledger, directories } = this.#state;
    return approvalMemo(ledger, entries, { directories, nowMs: clock.nowMs });
  }

  #writeMemo(memo: ApprovalMemo): void {
    this.#rows = JSON.stringify(memo.open);
    this.#write(memoName, memo);
  }

  #write(name: string, value: object): void {
    const { head } = this.#state;
    upsertMemo({ [name]: { ...value, ...head } });
    this.#committed = head.journalHead?.size ?? 0;
  }

  /** The memo of the next execution. Continue-as-new alone does not carry what this execution wrote to its memo. */
  memo(): Record<string, unknown> {
    const kept = Object.entries(workflowInfo().memo ?? {}).filter(
      ([name, value]) => name !== journalMemoName && !isUndecodable(value),
    );
    return { ...Object.fromEntries(kept), [memoName]: this.#memoOf([]).memo };
  }
}

const mostListed = 10;
const longestText = 200;

/** Writes the text under "User Metadata" on a run's page of Temporal's UI. It is Markdown without nested lists. */
export function currentDetails({ open }: Ledger): string {
  const [first] = open;
  if (first === undefined) return 'No approval is pending.';
  const { requestId } = first.request;
  const many = open.length > 1;
  return [
    `### ${open.length} approval${many ? 's' : ''} pending`,
    ...open.slice(0, mostListed).map((record, index) => paragraphAbout(record, many ? `${index + 1}. ` : '')),
    ...(open.length > mostListed
      ? [`… and ${open.length - mostListed} more: \`countersign approvals\` lists them all.`]
      : []),
    `### How to answer${many ? ' the first' : ''}`,
    `On a command line, where all arguments are shown:\n${block([
      `countersign approvals show ${requestId}`,
      `countersign approve ${requestId}`,
      `countersign deny ${requestId} --reason "…"`,
    ])}`,
    `Or on this page: More Actions, Send a Signal, name \`${decideName}\`, with this data (\`false\` denies):\n${block([JSON.stringify({ requestId, approved: true })])}`,
  ].join('\n\n');
}

/** Writes the paragraph about one request. `number` is its place in the list, such as `2. `, or empty. */
function paragraphAbout(record: RequestRecord, number: string): string {
  const { request, terms } = record;
  const { toolName, riskLevel, reason, deadline, requestId, digest } = request;
  const runsAtEnd = terms.onTimeout === 'allow';
  const until =
    deadline === null
      ? 'no deadline'
      : `${runsAtEnd ? 'allowed' : 'denied'} automatically after ${deadline.slice(0, 19).replace('T', ' ')} UTC`;
  return [
    `**${number}${toolName}** ${argumentsOf(request)}, risk ${riskLevel}`,
    `${reviewersText(record)}${until}`,
    `request \`${requestId}\``,
    `digest \`${digest.slice(0, 16)}…\`, asked because ${codeSpan(escapeText(reason))}`,
  ].join('\n');
}

/** Names the reviewers of a request, as the beginning of a line. Empty if anyone may answer. */
function reviewersText(record: RequestRecord): string {
  const { reviewers } = waitingFor(record);
  if (reviewers.length === 0) return '';
  const more = reviewers.length > mostListed ? ` and ${reviewers.length - mostListed} more` : '';
  const names = reviewers.slice(0, mostListed).map((name) => codeSpan(escapeText(name)));
  return `waits for ${names.join(', ')}${more}, `;
}

/** Lists the arguments: with their values if a policy or the tool shows them, otherwise by name only. */
function argumentsOf({ arguments: args, shownArguments = {} }: RequestRecord['request']): string {
  const values = Object.entries(shownArguments).map(
    ([name, text]) => `${codeSpan(escapeText(name))} ${span(escapeUnseen(text))}`,
  );
  const others = Object.keys(args).filter((name) => !Object.hasOwn(shownArguments, name));
  const more = others.length > mostListed ? [`and ${others.length - mostListed} more`] : [];
  const names = [...others.slice(0, mostListed).map((name) => codeSpan(escapeText(name))), ...more];
  if (values.length === 0) return `with ${names.length === 0 ? 'no arguments' : names.join(', ')}`;
  return [...values, ...(names.length === 0 ? [] : [`not shown: ${names.join(', ')}`])].join(', ');
}

function block(lines: string[]): string {
  return ['```', ...lines, '```'].join('\n');
}

/** A code span with the beginning of escaped text that a model or a policy chose. */
function codeSpan(escaped: string): string {
  return span(escaped.slice(0, longestText));
}

/** A code span. Backticks are replaced, so that the text cannot end the span. */
function span(escaped: string): string {
  return `\`${escaped.replaceAll('`', "'")}\``;
}

/** Joins the tasks that write commands. If they write none and one is needed (I12), writes the journal as a command. */
export function outputsOf(
  state: GateState,
  { queue, deadlines }: Messages,
  index: VisibilityIndex,
  others: readonly ScheduledTask[],
): ScheduledTask {
  const outputs: ScheduledTask[] = [deadlines, index, ...others];
  return {
    get isDue() {
      return queue.needsCommand || (queue.isOpen && outputs.some(({ isDue }) => isDue));
    },
    run() {
      if (queue.isOpen) for (const output of outputs) output.run(); // once the gate knows its policies
      if (queue.needsCommand && !state.hasWritten) index.writeJournal();
      queue.noteCommandWritten();
    },
  };
}
