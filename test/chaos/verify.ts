/**
 * The rules that every run record must satisfy, whatever was killed. Pure: each rule takes one record and returns a
 * sentence for each problem. The marks in the names are those of docs/internals.md, "What never breaks".
 */
import { answersAreTrue, decidedBySomebody, firstOneWins, nothingIsLost } from './verify-answers.ts';
import { auditVerifies } from './verify-audit.ts';
import { ruledByAChange } from './verify-changes.ts';
import { controlsAreFound, refusalsAreTrue } from './verify-controls.ts';
import { deadlinesAreKept } from './verify-deadlines.ts';
import { grantsAreKept } from './verify-grants.ts';
import { eachCallAnswered, ledgerEqualsHistory, noGaps, oneOutcomeEach } from './verify-journal.ts';
import { badOnesAreCounted } from './verify-refusals.ts';
import { seatsAreKept } from './verify-seats.ts';
import { mayBeCancelled, nestedRunsAnswered } from './verify-nested.ts';
import { grantsAreTold, refusedChangeNothing, settledStaysSettled } from './verify-silence.ts';
import { toldTheTruth } from './verify-told.ts';
import { votesAreCounted, votesAreKept } from './verify-votes.ts';
import type { RunBook } from './run-book.ts';

export interface Violation {
  rule: string;
  workflowId: string;
  run: string;
  what: string;
}

type Rule = (book: RunBook) => string[];

const rules: Readonly<Record<string, Rule>> = {
  'every run comes to its end': ended,
  'every run can be replayed (I12)': ({ status, unread }) => {
    // A run that was terminated before a task took its last events answers nothing. Its history is replayed all the same.
    const isSilent = status === 'TERMINATED' && /before a worker took its last events/.test(unread ?? '');
    return unread === undefined || isSilent ? [] : [unread];
  },
  'each request has exactly one outcome (I3)': oneOutcomeEach,
  'each call is answered': eachCallAnswered,
  'what was approved ran once, all else never (I1, I7)': ranOnce,
  'the journal has no gaps': noGaps,
  'the audit is complete and verifies': auditVerifies,
  'history says what the ledger says': ledgerEqualsHistory,
  'a policy that was sent ruled': ruledByAChange,
  'a decision settled it, in time (I6, I15)': decidedBySomebody,
  'the first decision wins (I3)': firstOneWins,
  'whoever decides learns the truth (I3, I4)': answersAreTrue,
  'no acknowledged decision is lost (I7)': nothingIsLost,
  'what came to nothing is counted (I4)': badOnesAreCounted,
  'deadlines move by what was sent, within the ceiling (I6)': deadlinesAreKept,
  'only who holds a seat is heard': seatsAreKept,
  'a request is settled by the vote that makes them enough': votesAreCounted,
  'no acknowledged vote is lost (I7)': votesAreKept,
  'what is refused changes nothing (I4)': refusedChangeNothing,
  'a call of an agent is answered by its nested run': nestedRunsAnswered,
  'a grant answers what it may, as often as it may': grantsAreKept,
  'what is settled stays settled (I3)': settledStaysSettled,
  'what a grant settles is told (I14)': grantsAreTold,
  'no acknowledged control is lost (I7)': controlsAreFound,
  'whoever is refused learns the truth (I4)': refusalsAreTrue,
  'the model is told the truth': toldTheTruth,
};

export function verifyBook(book: RunBook): Violation[] {
  const { workflowId, plan } = book;
  return Object.entries(rules).flatMap(([rule, check]) =>
    check(book).map((what) => ({ rule, workflowId, run: plan.name, what })),
  );
}

function ended(book: RunBook): string[] {
  const { plan, status, failure } = book;
  const wanted = { itself: [], cancel: ['CANCELLED'], terminate: ['TERMINATED'] }[plan.end.kind];
  // The run may complete before it is cancelled or terminated.
  const possible = ['COMPLETED', ...wanted, ...(mayBeCancelled(book) ? ['CANCELLED'] : [])];
  return possible.includes(status) ? [] : [`it is ${[status, failure ?? []].flat().join(': ')}`];
}

const repeatable = ['again', 'look'];

function ranOnce({ plan, status, projection, lines, details, sent, unread }: RunBook): string[] {
  const wrong: string[] = [];
  const counts = new Map<string, number>();
  const requests = new Map(projection.requests.map((request) => [request.callId, request]));
  for (const { callId, tool, text } of lines) {
    counts.set(callId, (counts.get(callId) ?? 0) + 1);
    const [turn, index] = callId.split('.').map(Number);
    const planned = plan.turns[turn! - 1]?.calls[index! - 1];
    const requestId = requests.get(callId)?.requestId ?? '';
    const edited = details[requestId]?.settled?.edited?.arguments['text'];
    // A run that was terminated before a task took its last events says nothing of its requests.
    const sentEdits = sent.flatMap(({ item, requestId: of }) => (of === requestId ? (item.edit ?? []) : []));
    const texts = unread === undefined ? [edited ?? planned?.text] : [planned?.text, ...sentEdits];
    if (planned?.tool !== tool || !texts.includes(text)) {
      wrong.push(`call ${callId} ran as ${tool} '${text}' (I8)`);
    }
  }
  for (const { callId, toolName, outcome, ran } of projection.outcomes) {
    if (toolName === 'helper') continue;
    const times = counts.get(callId) ?? 0;
    counts.delete(callId);
    const [least, most] = timesAllowed(ran, repeatable.includes(toolName));
    const mayRun = outcome === 'allowed' || requests.get(callId)?.runs === true;
    if (!mayRun && times > 0) wrong.push(`call ${callId} is ${outcome} and ran ${times} times`);
    else if (times < least || times > most) wrong.push(`call ${callId} ran ${times} times and is said to be '${ran}'`);
    if (ran === 'pending' && status !== 'TERMINATED') wrong.push(`call ${callId} is still pending`);
  }
  for (const [callId, times] of counts) wrong.push(`call ${callId} ran ${times} times without an outcome`);
  return wrong;
}

function timesAllowed(ran: string, isRepeatable: boolean): [number, number] {
  const most = isRepeatable ? Infinity : 1;
  if (ran === 'yes') return [1, most];
  return ran === 'no' ? [0, 0] : [0, most];
}
