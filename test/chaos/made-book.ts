import type { ApprovalDetails, JournalEntry } from '../../src/contract.ts';
import { projectJournal } from '../../src/events/journal.ts';
import { requestRecord } from '../support/record-request.ts';
import type { RunBook } from './run-book.ts';
import type { ChaosTool, PlannedItem } from './schedule.ts';
import type { SentItem } from './sent-item.ts';

/** Builds run records for tests: a run `w` that starts in 2026; times are in seconds from its start. */

export const startMs = Date.parse('2026-01-01T00:00:00.000Z');
export const at = (seconds: number): string => new Date(startMs + seconds * 1_000).toISOString();
export const ids = ['a', 'b', 'c', 'e'].map((letter) => letter.repeat(32)) as [string, string, string, string];
export const digest = 'd'.repeat(64);
const base = { engine: 1, toolName: 'note' } as const;

/** Request `index` is about call `index` of the first turn and waits one minute. */
export const opened = (seq: number, index: number): JournalEntry => ({
  ...base,
  seq,
  kind: 'opened',
  at: at(0),
  callId: `1.${index + 1}`,
  requestId: ids[index]!,
  digest,
  deadline: at(60),
  rule: null,
});

export const settled = (
  seq: number,
  index: number,
  outcome: 'approved' | 'denied' | 'expired',
  seconds: number,
): JournalEntry => ({
  ...base,
  seq,
  kind: 'settled',
  at: at(seconds),
  callId: `1.${index + 1}`,
  requestId: ids[index]!,
  outcome,
  runs: outcome === 'approved',
  digest,
  ...(outcome === 'expired' ? {} : { reviewerId: 'ann', decisionId: `d-${index}` }),
});

export const sent = (
  call: number,
  answer: SentItem['answer'],
  more: Partial<PlannedItem> = {},
  seconds = 4,
): SentItem => ({
  run: 'run-000',
  item: { call, approved: call === 0, reviewerId: 'ann', decisionId: `d-${call}`, ...more },
  via: 'update',
  requestId: ids[call]!,
  sentAtMs: startMs + seconds * 1_000,
  answeredAtMs: startMs + seconds * 1_000 + 500,
  answer,
});

export const accepted = (call: number, outcome: 'approved' | 'denied'): SentItem['answer'] => ({
  kind: 'receipt',
  receipt: { requestId: ids[call]!, accepted: true, outcome, message: '' },
});

/** `turns` lists the tools of each turn. Each call that ran wrote its text, and the model received the result. */
export function bookOf(entries: JournalEntry[], turns: ChaosTool[][], more: Partial<RunBook> = {}): RunBook {
  const projection = projectJournal(entries);
  const planned = turns.map((tools, turn) => ({
    calls: tools.map((tool, call) => ({ modelCallId: 'x', tool, text: `run-000 ${turn + 1}.${call + 1}` })),
    sends: [],
    controls: [],
    changes: [],
    strays: 0,
  }));
  const ran = projection.outcomes
    .filter((call) => call.ran === 'yes')
    .toSorted((one, other) => (one.callId < other.callId ? -1 : 1));
  return {
    plan: { name: 'run-000', timeoutMs: 60_000, reviewers: [], turns: planned, end: { kind: 'itself' } },
    nested: {},
    workflowId: 'w',
    status: 'COMPLETED',
    executions: 1,
    audit: auditOf(entries),
    entries,
    projection,
    ledger: { asks: projection.requests.length, open: 0, outcomes: projection.outcomes, refused: 0 },
    details: detailsOf(entries),
    result: projection.outcomes,
    told: ran.map(({ callId }) => `wrote run-000 ${callId}`),
    lines: ran.map(({ callId, toolName }) => ({
      tool: toolName,
      workflowId: 'w',
      callId,
      text: `run-000 ${callId}`,
    })),
    sent: [],
    controls: [],
    changes: [],
    ...more,
  };
}

function auditOf(entries: JournalEntry[]): RunBook['audit'] {
  return {
    ok: true,
    findings: [],
    notes: [],
    lines: 1,
    runs: 1,
    entries: new Set(entries.map(({ seq }) => seq)).size,
    rulings: { agreed: 0, notMade: {} },
    heads: new Map(),
  };
}

function detailsOf(entries: JournalEntry[]): Record<string, ApprovalDetails> {
  const { requests } = projectJournal(entries);
  return Object.fromEntries(
    requests.map(({ requestId, toolName, openedAt, deadline, outcome, runs, settledAt, ...word }) => [
      requestId,
      {
        ...requestRecord(1, null, { requestId }).request,
        toolName,
        digest,
        requestedAt: openedAt,
        deadline,
        rule: null,
        settled: { ...word, outcome: outcome!, runs: runs!, settledAt: settledAt! },
      },
    ]),
  );
}
