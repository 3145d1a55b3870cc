import type { CallOutcome } from '../../src/contract.ts';
import type { ProjectedRequest } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';

export function oneOutcomeEach({ status, entries, projection }: RunBook): string[] {
  const wrong: string[] = [];
  const bySeq = new Map<number, string>();
  const counts = new Map<string, { opened: number; settled: number }>();
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    const known = bySeq.get(entry.seq);
    if (known !== undefined && known !== text) wrong.push(`two entries are number ${entry.seq}: ${known} and ${text}`);
    bySeq.set(entry.seq, text);
    if (known !== undefined || (entry.kind !== 'opened' && entry.kind !== 'settled')) continue;
    const count = counts.get(entry.requestId ?? '') ?? { opened: 0, settled: 0 };
    count[entry.kind]++;
    counts.set(entry.requestId ?? '', count);
  }
  for (const [requestId, { opened, settled }] of counts) {
    const enough = settled === 1 || (settled === 0 && status === 'TERMINATED');
    if (opened !== 1 || !enough) wrong.push(`request ${requestId} was opened ${opened} and settled ${settled} times`);
  }
  for (const { requestId, outcome } of projection.requests) {
    if (outcome === undefined) wrong.push(`request ${requestId} has no outcome`);
  }
  return wrong;
}

export function noGaps({ projection }: RunBook): string[] {
  return projection.gaps.map(([first, last]) => `entries ${first} to ${last} are in no payload`);
}

/** A completed run has answered every call of its model. */
export function eachCallAnswered({ plan, status, projection }: RunBook): string[] {
  if (status !== 'COMPLETED') return [];
  const known = new Map(projection.outcomes.map(({ callId, toolName }) => [callId, toolName]));
  return plan.turns.flatMap(({ calls }, turn) =>
    calls.flatMap(({ tool }, index) => {
      const callId = `${turn + 1}.${index + 1}`;
      return known.get(callId) === tool ? [] : [`call ${callId} of ${tool} has no outcome`];
    }),
  );
}

/** The projection of history, the run's queries and its result must agree. */
export function ledgerEqualsHistory(book: RunBook): string[] {
  const { status, projection, ledger, details, result } = book;
  if (book.unread !== undefined) return [];
  const wrong: string[] = [];
  const terminated = status === 'TERMINATED';
  for (const { callId: _callId, ...request } of projection.requests) {
    const own = details[request.requestId];
    if (own == null) {
      wrong.push(`the run does not know request ${request.requestId}`);
      continue;
    }
    const { toolName, digest, requestedAt: openedAt, deadline, rule, settled } = own;
    // A terminated run could not record the end of its open requests. Queries replay its last, unfinished task and show
    // what that task would have done.
    const isCutOff = terminated && request.settledAt === undefined;
    const end = isCutOff ? { outcome: 'cancelled' } : settled;
    const inRun: Partial<Record<(typeof compared)[number], string | boolean | null>> = {
      toolName,
      digest,
      openedAt,
      deadline,
      rule,
      ...end,
    };
    for (const name of compared) {
      if (isCutOff && changesWhileOpen.includes(name)) continue;
      const read = request[name];
      const own = inRun[name];
      if (read !== own) wrong.push(`request ${request.requestId}: ${name} is ${read} in history, ${own} in the run`);
    }
  }
  if (!terminated) {
    wrong.push(...difference('the ledger', projection.outcomes, ledger.outcomes));
    if (ledger.open > 0) wrong.push(`${ledger.open} requests are open in a run that is over`);
    if (ledger.asks !== projection.requests.length) {
      wrong.push(`${projection.requests.length} requests in history, ${ledger.asks} in the ledger`);
    }
    if (projection.refusals !== Math.min(ledger.refused, journaledRefusals)) {
      wrong.push(`${projection.refusals} refusals in history, ${ledger.refused} in the ledger`);
    }
  }
  if (result !== undefined) wrong.push(...difference('the result', projection.outcomes, result));
  return wrong;
}

const compared = [
  'toolName',
  'digest',
  'openedAt',
  'deadline',
  'rule',
  'outcome',
  'runs',
  'settledAt',
  'reason',
  'reviewerId',
  'identity',
  'decisionId',
  'by',
  'byId',
] as const satisfies readonly (keyof ProjectedRequest)[];

/** The fields that an unfinished task may have changed without settling the request. */
const changesWhileOpen: readonly string[] = ['deadline', 'rule'];

/** Beyond this number, the ledger only counts refusals. */
const journaledRefusals = 50;

function difference(what: string, projected: CallOutcome[], told: CallOutcome[]): string[] {
  const text = ({ callId, toolName, requestId = '', outcome, ran }: CallOutcome): string =>
    [callId, toolName, requestId, outcome, ran].join(' ');
  const inHistory = new Set(projected.map(text));
  const inRun = new Set(told.map(text));
  return [
    ...[...inHistory].filter((each) => !inRun.has(each)).map((each) => `'${each}' is in history and not in ${what}`),
    ...[...inRun].filter((each) => !inHistory.has(each)).map((each) => `'${each}' is in ${what} and not in history`),
  ];
}
