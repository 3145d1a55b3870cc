import type { AuditLine } from '../../../src/audit/audit-line.ts';
import { timeOf, placeOf } from '../../../src/audit/statistics-rows.ts';
import { AuditVerifier } from '../../../src/audit/audit-verifier.ts';
import { csvRows } from '../../../src/audit/csv.ts';
import { leafOfLine, lineLeaf, sealer, sealText } from '../../../src/audit/entry-line.ts';
import { KeptResults, NamedEvidence } from '../../../src/audit/verify-evidence.ts';
import { isEntryLine, readLine } from '../../../src/audit/read-line.ts';
import { isRuling } from '../../../src/audit/rule-again.ts';
import { isCountedBefore } from '../../../src/audit/standing.ts';
import { auditedRun } from '../../../src/client/audit/audited-run.ts';
import { EvidenceCalls } from '../../../src/client/audit/evidence-calls.ts';
import { LiveComparison } from '../../../src/client/audit/verify-live.ts';
import { eventsOfHistories } from '../../../src/client/history/events-of-histories.ts';
import { readHistories } from '../../../src/client/history/history-chain.ts';
import { recordedBefore } from '../../../src/client/send/decide.ts';
import { entriesIn, headIn, writtenIn } from '../../../src/client/history/written-by-gate.ts';
import { readValue } from '../../../src/client/server/read-payload.ts';
import { memoName, messageNames, workflowType } from '../../../src/contract.ts';
import { documents, escapable, type Inputs, objects, pieces, type Run, values } from './input.ts';

const hash = '0'.repeat(64);
const salt = '0'.repeat(32);
const at = '2030-01-31T12:00:00.000Z';

/** The lines of an export, with the text in each of them, and with many that are out of order. */
const exports: readonly ((text: string) => object[])[] = [
  (text) => [{ line: 'export', format: 1, namespace: text, at: text, publicKey: text, withheld: pieces(text) }],
  (text) => [begin, run(text), entry(1, { toolName: text, reason: text }), end],
  (text) => [
    begin,
    run('w'),
    entry(1, Object.fromEntries(pieces(text).map((piece, index) => [piece + index, piece]))),
    end,
  ],
  (text) => [begin, run('w'), ...pieces(text).map((piece, index) => entry(index * 2, { toolName: piece })), end],
  (text) => [begin, run('w'), ...pieces(text).map((piece, index) => entry(-index, { toolName: piece })), end],
  (text) => [
    begin,
    run('w'),
    ...pieces(text).map((key) => ({ line: 'evidence', run: 1, part: 'call', key, value: key })),
    end,
  ],
  (text) => [begin, run('w'), { line: 'gap', run: 1, first: 1, last: Number.MAX_SAFE_INTEGER, why: text }, end],
  (text) => [begin, ...pieces(text).map((piece, index) => ({ ...run(piece), run: index })), end],
  (text) => [begin, run('w'), { ...entry(1, { toolName: text }), context: undefined }, end],
];
const begin = { line: 'export', format: 1, namespace: 'default', at, withheld: [] };
const end = { line: 'end', runs: 1, entries: 1 };
const proof = { size: 1, root: hash };

function run(workflowId: string) {
  return { line: 'run', run: 1, workflowId, firstRunId: 'r', workflowType: 'agent', committed: true };
}

function entry(seq: number, members: object) {
  const salts = Object.fromEntries(Object.keys(members).map((name) => [name, salt]));
  const context = { runId: 'r', eventId: 1 };
  return { line: 'entry', run: 1, workflowId: 'w', entry: { seq, kind: 'opened', at, ...members }, salts, context };
}

const exported = (take: (lines: readonly string[]) => unknown): Run[] =>
  exports.map((lines) => (text) => take(lines(escapable(text)).map((line) => JSON.stringify({ ...line, proof }))));

/** An entry of the journal that whoever may write to the namespace has put there, with the text in each of its members. */
const forged = (text: string): object[] =>
  ['opened', 'vote', 'settled', 'ran', 'ruling', 'refused', 'policy', 'delegated', 'extended', text].map(
    (kind, index) => ({
      seq: index + 1,
      kind,
      at: text,
      requestId: text,
      callId: text,
      toolName: text,
      outcome: text,
      digest: text,
      reason: text,
      reviewerId: text,
      to: text,
    }),
  );
const many = (text: string): object[] =>
  pieces(text).map((piece, index) => ({
    seq: index,
    kind: 'opened',
    at,
    requestId: piece,
    callId: piece,
    toolName: piece,
  }));

const payload = (value: unknown) => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(value)),
});
const payloads = (...of: unknown[]) => ({ payloads: of.map(payload) });
const memo = (value: unknown) => ({ upsertedMemo: { fields: { [memoName]: payload(value) } } });
const signal = (signalName: string, value: unknown) => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: payloads(value), identity: signalName },
});
const scheduled = (name: string, ...given: unknown[]) => ({
  activityTaskScheduledEventAttributes: { activityId: '1', activityType: { name }, input: payloads(...given) },
});
const completed = (value: unknown) => ({
  activityTaskCompletedEventAttributes: { scheduledEventId: 2, result: payloads(value) },
});
/** The events after a run's start. Each place that can hold a text holds this one. */
const histories: readonly ((text: string) => object[])[] = [
  (text) => [signal('decide', { requestId: text, approved: true, reason: text, decisionId: text })],
  (text) => pieces(text).map((content) => signal(messageNames.message, { content })),
  (text) => [signal(text, text), signal(messageNames.setPolicy, { policy: { [text]: text }, mode: text })],
  (text) => [{ workflowPropertiesModifiedEventAttributes: memo({ journal: forged(text.slice(0, text.length / 8)) }) }],
  (text) => [{ workflowPropertiesModifiedEventAttributes: memo({ journal: many(text) }) }],
  (text) => [scheduled(text, { callId: text, digest: text }, { to: text }), completed(text)],
  (text) => [scheduled('countersign.callModel', { turn: 1, messages: [] }), completed({ text, calls: pieces(text) })],
  (text) => [
    { workflowExecutionFailedEventAttributes: { failure: { message: text, applicationFailureInfo: { type: text } } } },
  ],
];
const started = {
  workflowExecutionStartedEventAttributes: {
    workflowType: { name: workflowType },
    workflowId: 'w',
    originalExecutionRunId: 'r',
    firstExecutionRunId: 'r',
    input: payloads({ agent: 'a', input: 'b' }),
  },
};
const historiesOf = (use: (events: never[]) => unknown): Run[] =>
  histories.map((history) => (text) => {
    const events = [started, ...history(escapable(text))];
    return use(
      events.map((event, index) => ({ eventId: index + 1, eventTime: { seconds: index }, ...event })) as never[],
    );
  });
const executions = (events: never[]) => readHistories([{ runId: 'r', events }], readValue);
/** As Temporal's UI downloads a history: bytes in base64, times as texts. */
const asDownload = (events: never[]): string =>
  JSON.stringify({ events }, (name, value: unknown) => {
    if (name === 'eventTime') return at;
    const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
    return type === 'Buffer' ? Buffer.from(data as number[]).toString('base64') : value;
  });

function tableOf(lines: readonly object[]): string[] {
  const rows = csvRows();
  // The rows of a run come with its head.
  return [...lines, { line: 'head', run: 1 }].flatMap((line) => rows.take(line as AuditLine));
}

export const auditInputs: Inputs = {
  'audit/statistics-rows.ts timeOf': timeOf,
  'audit/audit-verifier.ts AuditVerifier.take': exported((lines) => {
    const verifier = new AuditVerifier({ isSigned: () => false });
    for (const text of lines) verifier.take({ text });
    return verifier.end();
  }),
  'audit/csv.ts csvRows': [
    (text) => tableOf([entry(1, { toolName: text, reason: text, to: pieces(text) })]),
    (text) => tableOf(pieces(text).map((piece, index) => entry(index + 1, { toolName: piece, reason: piece }))),
    ...objects((members) => tableOf([entry(1, members)])),
  ],
  'audit/entry-line.ts leafOfLine': objects((members) => leafOfLine('tag', entry(1, members))),
  'audit/verify-evidence.ts KeptResults.problem': (text) =>
    new KeptResults().problem({ outcome: 'cached', resultOf: text, digest: text } as never),
  'audit/verify-evidence.ts NamedEvidence.call': objects((args) =>
    new NamedEvidence({ calls: { a: { tool: 'pay', args } } } as never).call('a', hash),
  ),
  'audit/verify-evidence.ts NamedEvidence.context': objects((metadata) =>
    new NamedEvidence({ contexts: { a: { metadata } } } as never).context('a'),
  ),
  'audit/read-line.ts readLine': [...documents(readLine), ...exported((lines) => lines.map(readLine))],
  'audit/read-line.ts isEntryLine': [
    ...objects((members) => isEntryLine(entry(1, members))),
    (text) =>
      isEntryLine({ entry: { seq: 1, kind: text, at: text }, salts: { [text]: text }, withheld: { [text]: text } }),
  ],
  'audit/rule-again.ts isRuling': (text) =>
    isRuling({ open: pieces(text).map((requestId) => ({ requestId, digest: text })) }, {
      kind: 'settled',
      outcome: 'approved',
      requestId: text,
      digest: `${text}!`,
    } as never),
  'audit/entry-line.ts sealText': (text) => sealText({ size: 1, root: text }),
  'audit/entry-line.ts lineLeaf': objects((members) => lineLeaf(entry(1, members) as never)),
  'audit/entry-line.ts sealer': objects((members) => sealer((text) => text)(entry(1, members) as never)),
  'audit/standing.ts isCountedBefore': (text) =>
    isCountedBefore({ running: pieces(text).map((callId) => ({ callId })) } as never, { callId: text } as never),
  'audit/statistics-rows.ts placeOf': (text) => placeOf({ agent: text }, { rule: text, layer: text, agent: text }),
  'client/audit/audited-run.ts auditedRun': {
    places: 3,
    runs: historiesOf((events) => auditedRun('default', 'w', { executions: executions(events), unread: 0 })),
  },
  'client/audit/evidence-calls.ts EvidenceCalls.asked': (text) => new EvidenceCalls([], []).asked(text),
  'client/audit/verify-live.ts LiveComparison.take': exported((lines) => {
    const comparison = new LiveComparison({} as never);
    for (const line of lines) comparison.take(line);
  }),
  'client/history/events-of-histories.ts eventsOfHistories': {
    places: 12,
    runs: [
      ...historiesOf((events) => eventsOfHistories([asDownload(events)])),
      ...documents((text) => eventsOfHistories([text])),
      (text) => eventsOfHistories([`{"events":[{"eventId":"${text}","eventType":"${text}"}]}`]),
    ],
  },
  'client/history/history-chain.ts readHistories': { places: 3, runs: historiesOf(executions) },
  'client/send/decide.ts recordedBefore': (text) => {
    const sent = pieces(text).map((requestId) => ({ decision: { requestId, decisionId: requestId } }));
    return recordedBefore(sent as never, { requestId: text, decisionId: text } as never);
  },
  'client/history/written-by-gate.ts writtenIn': {
    places: 3,
    runs: historiesOf((events) =>
      (events as object[]).map((event) => [writtenIn(event, true, readValue), writtenIn(event, false, readValue)]),
    ),
  },
  'client/history/written-by-gate.ts entriesIn': [
    ...values(entriesIn),
    (text) => entriesIn({ journal: many(text) }),
    (text) => entriesIn({ gate: { journal: pieces(text) } }),
  ],
  'client/history/written-by-gate.ts headIn': [
    (text) => headIn(pieces(text).map((root, size) => ({ journalHead: { size, root } }))),
    ...values((value) => headIn([value, { journalHead: value }])),
  ],
};
