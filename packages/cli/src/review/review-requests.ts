import { setTimeout as sleep } from 'node:timers/promises';
import { escapeText, isProblemError, shownPerson, viewedBounds } from 'countersign/base';
import type { Asking } from 'countersign/adapter';
import type {
  ApprovalDetails,
  ApprovalFilter,
  ApprovalSummary,
  CountersignClient,
  Settlement,
  Receipt,
  Viewed,
} from 'countersign/client';
import type { Output } from '../base/output.ts';
import { reviewerOf, type ReviewerOptions, type SignerOptions, signerOf } from '../base/reviewer.ts';
import { askAnswer, printRequest, type ReviewAnswer, type Search, searchOf, type ShownRequest } from './ask-answer.ts';
import { InputEnded, type Questions, questionsUntil } from './questions.ts';
import { cardDigest, rowSentence } from 'countersign/card';

interface Review {
  asking: Asking;
  client: CountersignClient;
  output: Output;
  filter: Omit<ApprovalFilter, 'limit'>;
  sender: AnswerSender;
}

/** The time between two polls. A poll is one query of visibility or of a run, and adds nothing to a history. */
const lookEveryMs = 2_000;
/** The most requests in a list, because a list of all in a large inbox takes seconds. */
const mostListed = 100;
const mostSearched = 1_000;

/** The requests that the reviewer has answered or skipped, by id. Only `b` shows skipped ones again. */
type Aside = Map<string, 'answered' | 'skipped'>;
/** Why the reviewer leaves a request: undefined if the next one follows. */
type Leave = Search | 'quit' | 'back' | undefined;
/** Selects the requests that `review` shows: those that are not aside and contain `search`, which may be empty. */
interface Place {
  aside: Aside;
  search: string;
}

/** Shows requests one by one and waits for more, until the reviewer leaves or the input ends. */
export async function reviewRequests(review: Review): Promise<void> {
  const place: Place = { aside: new Map(), search: '' };
  const { aside } = place;
  let idle: string | undefined;
  try {
    for (;;) {
      const next = await look(review, place);
      if ('idle' in next && next.idle !== idle) review.asking.print(`\n${next.idle}`);
      idle = 'idle' in next ? next.idle : undefined;
      const leave = 'idle' in next ? await waitForMore(review, place, next.idle) : await reviewOne(review, aside, next);
      if (leave === 'quit') return;
      if (typeof leave === 'object') place.search = leave.search;
      if (leave === 'back') for (const [id, why] of aside) if (why === 'skipped') aside.delete(id);
    }
  } catch (error) {
    if (!(error instanceof InputEnded)) throw error;
  }
}

interface Listed {
  row: ApprovalSummary;
  /** The line above the request: the number of open requests, and the reviewer. */
  head: string;
}

/** Returns the next request with the line above it; a sentence if there is none, or if the server does not answer. */
async function look(
  { client, filter, sender, output }: Review,
  { aside, search }: Place,
): Promise<Listed | { idle: string }> {
  try {
    // The list may begin with all requests that are aside, so it must be longer by their number.
    const limit = (search === '' ? mostListed : mostSearched) + aside.size;
    const listed = await client.approvals.list({ ...filter, limit });
    const [row, ...others] = listed.approvals.filter(
      (open) => !aside.has(open.requestId) && !isPast(open.deadline) && hasText(open, search),
    );
    const skipped = listed.approvals.filter(({ requestId }) => aside.get(requestId) === 'skipped').length;
    const isCut = listed.next !== undefined;
    // In a list that is cut, `more` also counts the readable requests beyond its end.
    const count = listed.unread.flatMap(({ requestIds }) => requestIds).length + (isCut ? 0 : listed.more);
    const unread = count === 0 ? [] : [`${count} cannot be read here, and countersign approvals says why`];
    const searched = search === '' ? [] : [`with '${escapeText(search)}' (/ shows all)`];
    if (row === undefined) {
      const idle = skipped > 0 ? `nothing else waits · you skipped ${skipped}` : 'nothing waits for approval';
      return { idle: ['review', idle, ...searched, ...unread].join(' · ') };
    }
    const reviewer = reviewerOf(sender);
    const head = [
      'review',
      others.length === 0 ? 'nothing else waits' : `${others.length}${isCut ? '+' : ''} more`,
      ...searched,
      ...(skipped === 0 ? [] : [`${skipped} skipped`]),
      ...unread,
      ...(reviewer === undefined ? [] : [`you are ${escapeText(reviewer)}`]),
    ];
    return { row, head: output.style('bold', head.join(' · ')) };
  } catch (error) {
    if (!isProblemError(error) || !isOutage(error)) throw error;
    return { idle: `review · no answer counts: ${escapeText(error.message)}` };
  }
}

/** True if the list shows this text in a request, in upper or lower case. */
function hasText(row: ApprovalSummary, search: string): boolean {
  const { requestId, workflowId, toolName, agentName, callerUserId, callerName, severity, reason } = row;
  const texts = [requestId, workflowId, toolName, agentName, callerUserId, callerName, severity, reason];
  const all = [rowSentence(row), ...texts, ...Object.values(row.shownArguments ?? {})].join('\n');
  return all.toLowerCase().includes(search.toLowerCase());
}

/** Waits until `look` gives a request or another sentence. Meanwhile the reviewer can search, go back or quit. */
function waitForMore(review: Review, place: Place, idle: string): Promise<Leave> {
  const { aside } = place;
  const isBackOffered = [...aside.values()].includes('skipped');
  const question = `What comes is shown here. ${isBackOffered ? '[b]ack to what you skipped ' : ''}[q]uit: `;
  const changeOfList = async (): Promise<Change | undefined> => {
    const next = await look(review, place);
    return 'idle' in next && next.idle === idle ? undefined : new Change();
  };
  return untilChange(review, changeOfList, async ({ answer }) => {
    for (;;) {
      const line = await answer(question);
      const search = searchOf(line);
      if (search !== undefined) return search;
      if (line.trim() === 'q') return 'quit';
      if (line.trim() === 'b') return 'back';
    }
  });
}

/** Shows one request, asks for the answer and sends it. Returns undefined if the next request follows. */
async function reviewOne(review: Review, aside: Aside, { row, head }: Listed): Promise<Leave> {
  const { asking, client, output, sender } = review;
  const read = await readRequest(client, row);
  if ('why' in read && isOutage(read.why)) return undefined; // `look` then reports the outage
  const request = 'why' in read ? undefined : read;
  // The list lags behind the run, so it may still have a request that is settled.
  if (request?.settled !== undefined) return void aside.set(row.requestId, 'answered');
  const shown: ShownRequest = { row, request, all: false, shownAtMs: Date.now() };
  asking.print(`\n${head}\n`);
  if ('why' in read) asking.print(output.style('yellow', `${escapeText(read.why.message)}\n`));
  printRequest(asking.print, output, shown);
  const change = async (): Promise<Change | undefined> => changeOf(await readRequest(client, row), request);
  return untilChange(review, change, async (questions) => {
    const asked = await askAnswer({ questions, client, output }, shown);
    if (asked === 'skip') return void aside.set(row.requestId, 'skipped');
    if (typeof asked === 'string' || 'search' in asked) return asked;
    const send = (): Promise<SendResult> => {
      if ('untilMs' in asked) return sendExtension(client, row, asked.untilMs, sender);
      if ('to' in asked) return sendDelegation(client, row, asked.to, sender);
      return sendAnswer(client, shown, asked, sender);
    };
    const sent = await send();
    asking.print(output.style(sent.accepted ? 'green' : 'red', sent.text));
    if (sent.isDone) aside.set(row.requestId, 'answered');
    return undefined;
  });
}

/** A request, or the error if it cannot be read. */
type Read = ApprovalDetails | { why: Error & { code: string } };

async function readRequest(client: CountersignClient, { requestId, workflowId }: ApprovalSummary): Promise<Read> {
  try {
    return await client.approvals.get(requestId, { workflowId });
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return { why: error };
  }
}

/** A change that ends the questions: `text` is printed. Without a text, `look` prints the reason. */
class Change {
  readonly text: string | undefined;
  constructor(text?: string) {
    this.text = text;
  }
}

/** Returns what has changed since the request was shown; undefined for nothing. */
function changeOf(now: Read, before: ApprovalDetails | undefined): Change | undefined {
  // If only the run cannot be read, the shown content counts as unchanged.
  if ('why' in now) return isOutage(now.why) ? new Change() : undefined;
  if (now.settled !== undefined) return new Change(`Settled elsewhere: ${outcomeText(now.settled)}.`);
  if (isPast(now.deadline)) return new Change('Expired: it can no longer be answered.');
  return JSON.stringify(now) === JSON.stringify(before)
    ? undefined
    : new Change('The request has changed: look again.');
}

/** Asks, and calls `changeNow` every 2 seconds meanwhile. A change ends the questions, and the result is undefined. */
async function untilChange(
  { asking, output }: Review,
  changeNow: () => Promise<Change | undefined>,
  ask: (questions: Questions) => Promise<Leave>,
): Promise<Leave> {
  const changed = new AbortController();
  const answered = new AbortController();
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(lookEveryMs, undefined, { signal: answered.signal }).catch(() => undefined);
      if (answered.signal.aborted) return;
      const change = await changeNow();
      if (change !== undefined) return changed.abort(change);
    }
  };
  watch().catch((error: unknown) => changed.abort(error));
  try {
    return await ask(questionsUntil(asking, changed.signal));
  } catch (error) {
    if (!(error instanceof Change)) throw error;
    if (error.text !== undefined) asking.print(output.style('yellow', error.text));
    return undefined;
  } finally {
    answered.abort();
  }
}

function isOutage({ code }: { code: string }): boolean {
  return code === 'server_unreachable';
}

function isPast(deadline: string | null): boolean {
  return deadline !== null && Date.parse(deadline) < Date.now();
}

/** Returns how a request was settled, by which reviewer, or rule, grant or request, and why; escaped. */
function outcomeText({ outcome, by, byId, reviewerId, reviewerName, identity, reason }: Settlement): string {
  const person =
    reviewerId === undefined
      ? ''
      : ` by ${escapeText(shownPerson(reviewerId, reviewerName))}${identity === undefined ? '' : ` (${identity})`}`;
  const thing = by === undefined ? '' : ` by ${by}${byId === undefined || byId === null ? '' : ` ${escapeText(byId)}`}`;
  const why = reason === undefined ? '' : `: ${escapeText(reason)}`;
  return `${outcome.replaceAll('_', ' ')}${person}${thing}${why}`;
}

type AnswerSender = Pick<ReviewerOptions, 'reviewer'> & SignerOptions;

/** The result of a sent message. `isDone`: the request is not shown to this reviewer again. */
interface SendResult {
  text: string;
  accepted: boolean;
  isDone: boolean;
}

/** Sends one decision about exactly the call that was shown, and records what was shown and for how long. */
function sendAnswer(client: CountersignClient, shown: ShownRequest, answer: ReviewAnswer, sender: AnswerSender) {
  const { row, request, card, shownAtMs } = shown;
  const { requestId, digest, workflowId } = request ?? row;
  const viewed: Viewed = {
    channel: 'review',
    ...(card !== undefined && { card: cardDigest(card) }),
    ...(request !== undefined && { userMessages: request.userMessages?.count ?? 0 }),
    ...(request?.preview?.state === 'ready' && { preview: request.preview.bound?.digest }),
    // A run refuses a time out of bounds, which a clock that is set meanwhile could give.
    durationMs: Math.min(viewedBounds.durationMs, Math.max(0, Date.now() - shownAtMs)),
  };
  const decision = { requestId, digest, ...answer, reviewerId: reviewerOf(sender), viewed };
  return resultOf(row.toolName, true, () => client.decide(decision, { workflowId, ...signerOf(sender) }));
}

function sendExtension(client: CountersignClient, row: ApprovalSummary, untilMs: number, sender: AnswerSender) {
  const { requestId, workflowId, toolName } = row;
  const message = { requestId, until: new Date(untilMs).toISOString(), by: reviewerOf(sender) };
  return resultOf(toolName, false, () => client.extend(message, { workflowId, ...signerOf(sender) }));
}

function sendDelegation(client: CountersignClient, row: ApprovalSummary, to: string, sender: AnswerSender) {
  const { requestId, workflowId, toolName } = row;
  const message = { requestId, to, by: reviewerOf(sender) };
  return resultOf(toolName, true, () => client.delegate(message, { workflowId, ...signerOf(sender) }));
}

/** Sends a message. `isDone`: success puts the request aside. After a refusal, the reviewer sees the request again. */
async function resultOf(toolName: string, isDone: boolean, send: () => Promise<Receipt>): Promise<SendResult> {
  try {
    const { message } = await send();
    return { text: escapeText(`${toolName}: ${message}`), accepted: true, isDone };
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return { text: escapeText(`${toolName}: ${error.message}`), accepted: false, isDone: false };
  }
}
