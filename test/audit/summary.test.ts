import { expect, test } from 'vitest';
import type { CountedRun } from '../../src/audit/decision-statistics.ts';
import { decisionSummary, summaryMarkdown, type DecisionSummary } from '../../src/audit/summary.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;
const startMs = Date.parse('2030-01-07T07:00:00.000Z');
/** The instant so many hours after the start of the week. */
const at = (hours: number): string => new Date(startMs + hours * hourMs).toISOString();

type Entry = Partial<JournalEntry>;
const opened = (requestId: string, hours: number, more: Entry = {}): Entry => ({
  kind: 'opened',
  requestId,
  callId: `call ${requestId}`,
  toolName: 'refund',
  severity: 'medium',
  at: at(hours),
  ...more,
});
const settled = (requestId: string, hours: number, outcome: JournalEntry['outcome'], more: Entry = {}): Entry => ({
  kind: 'settled',
  requestId,
  callId: `call ${requestId}`,
  toolName: 'refund',
  outcome,
  at: at(hours),
  ...more,
});
const ann: Entry = { identity: 'verified', reviewerId: 'ann@acme.com', runs: true };
const bob: Entry = { identity: 'claimed', reviewerId: 'bob' };

interface Run extends CountedRun {
  workflowId: string;
}

function run(entries: readonly Entry[], more: Partial<Run> = {}): Run {
  const numbered = entries.map((entry, index): JournalEntry => {
    return { seq: index + 1, kind: 'ruling', at: at(1), engine: 1, ...entry };
  });
  return { workflowId: 'ticket-8', agent: 'support', entries: numbered, ...more };
}

const summarized = (runs: readonly Run[], weeks = 0): DecisionSummary => {
  const sinceMs = startMs + weeks * weekMs;
  return decisionSummary({ runs, unread: 0, more: false }, { sinceMs, nowMs: sinceMs + weekMs });
};

test('the text of a week', () => {
  const people = { ann: { name: 'Ann Lee', also: ['ann@acme.com'], groups: [], keys: [] } };
  const entries = [
    ...Array.from({ length: 1_200 }, () => ({ outcome: 'allowed' as const })),
    { outcome: 'denied_by_policy' as const },
    { outcome: 'cached' as const },
    opened('4f0c9a1e77', 1, { toolName: 'wire', agent: 'finance', severity: 'critical' }),
    { kind: 'vote', requestId: '4f0c9a1e77', approved: true, at: at(2), ...bob } as const,
    settled('4f0c9a1e77', 4, 'approved', { ...ann, toolName: 'wire' }),
    { kind: 'ran', callId: 'call 4f0c9a1e77', ran: 'unknown', at: at(5) } as const,
    opened('a2', 1),
    settled('a2', 1.5, 'denied', bob),
    opened('a3', 1),
    settled('a3', 25, 'expired'),
    opened('a4', 1),
    settled('a4', 25, 'expired', { runs: true }),
    opened('a5', 1),
    settled('a5', 3, 'responded', ann),
    opened('a6', 1),
    settled('a6', 3, 'superseded', { by: 'policy', byId: 'strict' }),
    opened('a7', 100, { severity: 'high' }),
  ];
  const used = { usage: { inputTokens: 900, outputTokens: 100 }, cost: { currency: 'USD', amount: 1.5 } };
  const text = summaryMarkdown({
    ...summarized([
      run(entries, { directory: { people } }),
      run([opened('b1', 0)], { ended: true, workflowId: 'b', used }),
    ]),
    unread: 2,
    more: true,
  });
  expect(text).toBe(`## Approvals from 7 Jan 2030, 07:00 UTC to 14 Jan 2030, 07:00 UTC

People were asked to approve 8 calls. They approved 1, denied 1 and answered 1 instead of the tool. 2 expired with no \
answer. Of these calls, rules let 1 run. The end of a run cancelled 1. A new policy or grant settled 1. Rules allowed \
1,200 calls without a question. Rules denied 1 call. Limits and earlier answers settled 1 call. Half of the decisions \
took at most 2 h, the slowest 3 h.

1 request is open. The oldest has waited 2 d 20 h: \`refund\` of agent \`support\`, request \`a7\`.

| Tool | Asked | Approved | Denied | Expired | Median time |
| --- | ---: | ---: | ---: | ---: | ---: |
| \`refund\` | 7 | 0 | 1 | 2 | 1 h 15 min |
| \`wire\` | 1 | 1 | 0 | 0 | 3 h |

| Reviewer | Answers | Approved | Under 3 s | Median time |
| --- | ---: | ---: | ---: | ---: |
| \`bob\` | 2 | 1 | 0 | 45 min |
| \`ann\` | 2 | 1 | 0 | 2 h 30 min |

Approved calls of high or critical severity: 1

- critical: \`wire\` of agent \`finance\`, request \`4f0c9a1e\`, approved by \`bob\` and \
\`Ann Lee (ann@acme.com)\`, 7 Jan 2030, 11:00 UTC; its outcome is unknown

Counted from 2 runs. Those that ended used 1,000 tokens, for 1.50 USD. 2 more could not be read, and are not counted. \
There are further runs, which are not counted.`);
});

test('summaries of consecutive weeks count each question and each outcome once', () => {
  const runs = [run([opened('a', 167), settled('a', 170, 'approved', { ...ann }), opened('b', 300)])];
  const [first, second] = [summarized(runs), summarized(runs, 1)];
  expect([first.asked, second.asked]).toEqual([1 + 1, 1]);
  expect(second).toMatchObject({ approved: 1, medianMs: 3 * hourMs, openCount: 1 });
  expect(second.reviewers).toMatchObject([{ reviewerId: 'ann@acme.com', answers: 1 }]);
  expect(second.tools).toMatchObject([{ toolName: 'refund', asked: 1, approved: 1 }]);
  expect(summaryMarkdown({ ...second, asked: 0 })).toContain('No new call had to be approved. People approved 1.');
  expect(summarized(runs, 2)).toMatchObject({ asked: 0, approved: 0, tools: [], reviewers: [], openCount: 1 });
});

test('an edited call was asked about once', () => {
  const edited = [
    opened('a', 1),
    settled('a', 2, 'superseded', { by: 'edit', byId: 'b' }),
    opened('b', 2, { by: 'edit', byId: 'a', callId: 'call a' }),
    settled('b', 2, 'approved', { ...ann, callId: 'call a' }),
  ];
  expect(summarized([run(edited)])).toMatchObject({ asked: 1, approved: 1, superseded: 0 });
});

test('the most severe approvals come first, then the newest, and a list says what it leaves out', () => {
  const entries = Array.from({ length: 12 }, (_, index) => {
    const id = `id${index}`;
    return [
      opened(id, 1, { severity: index === 3 ? 'critical' : 'high' }),
      settled(id, 2 + index, 'approved', { ...bob, runs: true }),
    ];
  });
  const summary = summarized([run(entries.flat())]);
  expect(summary.severe.map(({ requestId }) => requestId).slice(0, 3)).toEqual(['id3', 'id11', 'id10']);
  expect(summaryMarkdown(summary)).toContain('\n- and 2 more\n');
});

test('without an event, the text is short', () => {
  expect(summaryMarkdown(summarized([])).split('\n\n').slice(1)).toEqual([
    'No new call had to be approved.',
    'No request is open.',
    'Counted from 0 runs.',
  ]);
});

test('names are neither markup nor cells, and invisible characters are shown', () => {
  const toolName = 'x` | **@all** | [a](https://evil.example) \\| \u202E\n# Heading';
  const reviewer = { identity: 'claimed', reviewerId: `${toolName} bob`, runs: true } as const;
  const entries = [
    opened('a', 1, { toolName, severity: 'critical' }),
    settled('a', 2, 'approved', reviewer),
    opened('b|`', 3, { toolName }),
  ];
  const lines = summaryMarkdown(summarized([run(entries, { agent: 'a`b' })])).split('\n');
  const rows = lines.filter((line) => line.startsWith('|'));
  expect(rows.map((row) => row.split('|').length)).toEqual([8, 8, 8, 7, 7, 7]);
  const inSpans = lines.join('\n').replaceAll(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, 'NAME');
  expect(inSpans).not.toMatch(/@all|evil|\u202E|^# /mu);
  expect(inSpans).toContain('of agent NAME, request NAME');
});
