import type { ChaosOutcome } from './chaos.ts';

/** Counts of what happened, by what happened: how much a chaos test has seen. */
export interface ChaosSummary {
  runs: number;
  requests: number;
  /** How the runs ended, and how many links they had. */
  endings: Record<string, number>;
  continued: number;
  outcomes: Record<string, number>;
  ran: Record<string, number>;
  decisions: number;
  /** What their senders learned. */
  answers: Record<string, number>;
  disturbances: number;
  crashes: number;
  violations: number;
}

export function summaryOf({ books, disturbances, crashes, violations }: ChaosOutcome): ChaosSummary {
  const sent = books.flatMap((book) => book.sent);
  return {
    runs: books.length,
    requests: books.reduce((sum, { projection }) => sum + projection.requests.length, 0),
    endings: counted(books.map(({ status }) => status)),
    continued: books.reduce((sum, { links }) => sum + links - 1, 0),
    outcomes: counted(books.flatMap(({ projection }) => projection.outcomes.map(({ outcome }) => outcome))),
    ran: counted(books.flatMap(({ projection }) => projection.outcomes.map(({ ran }) => ran))),
    decisions: sent.length,
    answers: counted(
      sent.map(({ answer }) => {
        if (answer.kind === 'refused') return answer.code;
        return answer.kind === 'receipt' ? (answer.receipt.code ?? 'accepted') : answer.kind;
      }),
    ),
    disturbances,
    crashes: crashes.length,
    violations: violations.length,
  };
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
