import type { JournalEntry } from '../../src/contract.ts';
import type { ChaosOutcome } from './chaos.ts';
import { orderedEntries } from '../../src/events/journal.ts';
import type { SendAnswer } from './sent-item.ts';

/** Counts of what happened, which show how much a chaos test covered. */
export interface ChaosSummary {
  runs: number;
  /** Runs that were started by calls of other runs. */
  nested: number;
  requests: number;
  /** How the runs ended, by status. `continued` counts their continuations as new. */
  endings: Record<string, number>;
  continued: number;
  outcomes: Record<string, number>;
  ran: Record<string, number>;
  decisions: number;
  /** Votes and settlements with a verified signature. */
  verified: number;
  /** The answers that the senders got. */
  answers: Record<string, number>;
  /** The answers to control messages, by kind. */
  controls: Record<string, Record<string, number>>;
  /** From the journals: requests extended, seats delegated, grants made and revoked, and calls answered by grants. */
  journaled: Record<string, number>;
  disturbances: number;
  crashes: number;
  violations: number;
}

export function summaryOf({ books, disturbances, crashes, violations }: ChaosOutcome): ChaosSummary {
  const sent = books.flatMap((book) => book.sent);
  const controls = books.flatMap((book) => book.controls);
  const entries = books.flatMap((book) => orderedEntries(book.entries));
  return {
    runs: books.filter(({ above }) => above === undefined).length,
    nested: books.filter(({ above }) => above !== undefined).length,
    requests: books.reduce((sum, { projection }) => sum + projection.requests.length, 0),
    endings: counted(books.map(({ status }) => status)),
    continued: books.reduce((sum, { executions }) => sum + executions - 1, 0),
    outcomes: counted(books.flatMap(({ projection }) => projection.outcomes.map(({ outcome }) => outcome))),
    ran: counted(books.flatMap(({ projection }) => projection.outcomes.map(({ ran }) => ran))),
    decisions: sent.length,
    verified: entries.filter(({ kind, identity }) => identity === 'verified' && ['vote', 'settled'].includes(kind))
      .length,
    answers: counted(sent.map(learned)),
    controls: Object.fromEntries(
      (['extend', 'delegate', 'revoke'] as const).map((kind) => [
        kind,
        counted(controls.filter(({ control }) => control.kind === kind).map(learned)),
      ]),
    ),
    journaled: counted(entries.flatMap(lifecycleOf)),
    disturbances,
    crashes: crashes.length,
    violations: violations.length,
  };
}

function learned({ answer }: { answer: SendAnswer }): string {
  if (answer.kind === 'refused') return answer.code;
  return answer.kind === 'receipt' ? (answer.receipt.code ?? 'accepted') : answer.kind;
}

function lifecycleOf({ kind, by, layer, grantId }: JournalEntry): string[] {
  if (['vote', 'extended', 'delegated', 'grant', 'revoked'].includes(kind)) return [kind];
  if (kind === 'settled' && by === 'grant') return ['settled by a grant'];
  const isGranted = kind === 'ruling' && (layer === 'grant' || grantId !== undefined);
  return isGranted ? ['answered by a grant'] : [];
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
