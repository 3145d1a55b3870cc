/** Why a run is blocked on something other than its chat's user. */
import { setTimeout as sleep } from 'node:timers/promises';
import { activityNames, waitingFor } from 'countersign/adapter';
import { isProblemError, personsShown, visibleText } from 'countersign/base';
import { rowSentence } from 'countersign/card';
import type { ApprovalDetails, Retry } from 'countersign/client';
import type { AskedRequest, ChatStep, ChatWait } from './chat-step.ts';
import type { ChatThread } from './chat-thread.ts';

/** How long a run is quiet before the first check of what it waits for, and the longest time between two checks. */
const pauseMs = { first: 1_000, longest: 30_000 };
const mostNested = 20;
const mostNames = 5;

/** Reports to one stream's front end why its run waits, each change once. */
export class ChatWaits {
  readonly #thread: Pick<ChatThread, 'client' | 'inbox'>;
  readonly #workflowId: string;
  #pauseMs = pauseMs.first;
  #found: readonly ChatWait[] = [];
  /** Undefined: the last report of an earlier stream, if any. */
  #told: string | undefined;

  constructor(thread: Pick<ChatThread, 'client' | 'inbox'>, workflowId: string, { isFirst }: { isFirst: boolean }) {
    this.#thread = thread;
    this.#workflowId = workflowId;
    if (isFirst) this.#told = JSON.stringify([]);
  }

  /** Finds, after a pause, what the run waits for besides its own requests. Rejects when `signal` aborts. */
  async look(signal: AbortSignal): Promise<'looked'> {
    await sleep(this.#pauseMs, undefined, { signal });
    this.#pauseMs = Math.min(this.#pauseMs * 2, pauseMs.longest);
    try {
      const found = await reasonsOf(this.#thread, this.#workflowId);
      if (!signal.aborted) this.#found = found;
    } catch (error) {
      if (!isProblemError(error)) throw error;
    }
    return 'looked';
  }

  /** An event arrived, so a worker runs. `speaks`: the model writes, so nothing else blocked it. */
  happened(speaks: boolean): void {
    this.#pauseMs = pauseMs.first;
    this.#found = speaks ? [] : this.#found.filter(({ kind }) => kind !== 'worker');
  }

  /** The run no longer waits. */
  *end(): Generator<ChatStep> {
    this.#found = [];
    yield* this.tell([]);
  }

  /** `others`: the open requests of the run that its user cannot answer. */
  *tell(others: readonly AskedRequest[]): Generator<ChatStep> {
    const waits = [...others.map((each) => waitOf(this.#thread, each)), ...this.#found];
    const text = JSON.stringify(waits);
    if (text === this.#told) return;
    this.#told = text;
    yield { type: 'waits', waits };
  }
}

/** A request that others answer, as the page shows it: who is still asked, and a link for them. */
function waitOf(
  { inbox }: Pick<ChatThread, 'inbox'>,
  { details, toolName, callId, requestId, workflowId, message, deadline }: AskedRequest,
): ChatWait {
  const { votes = [], delegations = [] } = details ?? {};
  const asked = details === undefined ? [] : waitingFor({ request: details, delegations }).reviewers;
  const reviewers = asked.filter((name) => votes.every(({ reviewerId }) => reviewerId !== name));
  const [sentence = ''] = message.split('\n');
  const people = namesOf(reviewers, details?.people);
  return {
    kind: 'reviewers',
    message: `Waits for ${people}: ${sentence}`,
    toolName,
    reviewers,
    people,
    sentence,
    toolCallId: callId,
    requestId,
    deadline,
    ...linkTo(inbox, { workflowId, requestId }),
  };
}

function linkTo(
  inbox: string | undefined,
  { workflowId, requestId }: { workflowId: string; requestId: string },
): Pick<ChatWait, 'url'> {
  const path = [workflowId, requestId].map((part) => encodeURIComponent(part.toWellFormed())).join('/');
  return inbox === undefined ? {} : { url: `${inbox}/requests/${path}` };
}

/** `agent`: the agent of a nested run, whose requests are answered elsewhere. */
async function reasonsOf(
  thread: Pick<ChatThread, 'client' | 'inbox'>,
  workflowId: string,
  agent?: string,
): Promise<ChatWait[]> {
  const { closedAt, run, note, retrying = [], open } = await thread.client.show(workflowId);
  if (closedAt !== undefined) return [];
  const own = agent === undefined ? [] : (run?.waitingFor ?? []);
  const nested = await Promise.all(
    (run?.nested ?? []).slice(0, mostNested).map((each) => reasonsOf(thread, each.workflowId, each.agent)),
  );
  const name = agent === undefined ? 'The agent' : `The agent ${visibleText(agent)}`;
  const of = agent === undefined ? {} : { agent };
  return [
    ...(note === undefined
      ? []
      : [{ kind: 'worker' as const, message: `${name} does not answer: it goes on when its worker runs.`, ...of }]),
    ...retrying.map((retry) => ({ kind: 'retry' as const, message: `${name}: ${retryText(retry)}`, ...of })),
    ...own.map(({ toolName, reviewers, people: named, requestId, deadline }) => {
      const people = namesOf(reviewers, named);
      const message = `${name} waits for ${people}, to answer '${visibleText(toolName)}' in the inbox.`;
      const row = open.find((each) => each.requestId === requestId);
      return {
        kind: 'nested' as const,
        message,
        ...of,
        toolName,
        reviewers,
        people,
        ...(row !== undefined && { sentence: rowSentence(row) }),
        requestId,
        deadline,
        ...linkTo(thread.inbox, { workflowId, requestId }),
      };
    }),
    ...nested.flat(),
  ];
}

/** Without the failure's message, which may contain secrets, and without the attempt: each would be a new report. */
function retryText({ activity, type }: Retry): string {
  if (activity !== activityNames.callModel) {
    return Object.values<string>(activityNames).includes(activity)
      ? 'a step has failed, and is tried again.'
      : `'${visibleText(activity)}' has failed, and is tried again.`;
  }
  return type === 'model_rate_limited'
    ? 'its model is rate limited, and is asked again.'
    : 'its model cannot be used now, and is asked again.';
}

/** Reviewers as the card names them. */
function namesOf(reviewers: readonly string[], people: ApprovalDetails['people']): string {
  if (reviewers.length === 0) return 'a reviewer';
  const shown = personsShown(people);
  const names = reviewers.slice(0, mostNames).map((id) => visibleText(shown(id)));
  const more = reviewers.length - names.length;
  if (more > 0) return `${names.join(', ')} or ${more} more`;
  return [names.slice(0, -1).join(', '), names.at(-1)!].filter((each) => each !== '').join(' or ');
}
