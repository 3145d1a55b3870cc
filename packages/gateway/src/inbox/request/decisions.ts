import { useEffect, useRef } from 'preact/hooks';
import type { Receipt, Viewed } from 'countersign/client';
import { decidingTexts } from 'countersign/card';
import type { ApprovalView, DecisionBody } from '../../http/inbox/api.ts';
import {
  type ApiProblem,
  requestPath,
  asProblem,
  getJson,
  sendJson,
  newMessageId,
  isAnswerLost,
  isKeptAlive,
  sendAgain,
} from '../api/fetch-json.ts';
import { meOf, session } from '../state/me.ts';
import { requestKey, type RequestIds } from '../state/paths.ts';
import { createStore, useStore } from '../state/store.ts';
import { type HeldBack, holdBack, undoTimeMs } from './hold-back.ts';

export type GivenAnswer = Omit<DecisionBody, 'decisionId' | 'digest' | 'viewed'>;

/** One attempt: a retry sends exactly this again. */
type Attempt = DecisionBody & { decisionId: string };

export type DecisionState =
  | { kind: 'idle' }
  | { kind: 'delayed'; held: HeldBack; summary: string }
  | { kind: 'sending' }
  /** It is unknown whether it arrived. */
  | { kind: 'unsure'; again: () => void }
  | { kind: 'refused'; problem: ApiProblem }
  | { kind: 'dropped'; why: string }
  | { kind: 'done'; receipt: Receipt; approved: boolean; decisionId: string };

interface About extends RequestIds {
  digest: string;
  viewed: Viewed;
  sentence: string;
}

/** The request that was open when an approval was given. `isPart`: it showed only what the index has. */
interface Seen {
  request: ApprovalView['request'];
  isPart: boolean;
}

export interface GivenDecision extends About {
  state: DecisionState;
}

/** The answers that were given on this page, by request, the newest last. They outlast the view of the request. */
export const decisions = createStore<ReadonlyMap<string, GivenDecision>>(new Map());

function setState(about: About, state: DecisionState): void {
  decisions.update((before) => {
    const key = requestKey(about);
    const others = [...before].filter(([each]) => each !== key);
    return new Map([...others, [key, { ...about, state }]]);
  });
}

export function decisionOf(ids: RequestIds): GivenDecision | undefined {
  return decisions.get().get(requestKey(ids));
}

/** True if an answer was given on this page, which the list may not know yet. */
export function isAnswered(ids: RequestIds): boolean {
  return ['delayed', 'sending', 'done'].includes(decisionOf(ids)?.state.kind ?? 'idle');
}

/** True if an answer on this page settled the request, which the list may not know yet. */
export function isSettled(ids: RequestIds): boolean {
  const state = decisionOf(ids)?.state;
  return state?.kind === 'done' && state.receipt.outcome !== undefined;
}

export function forgetDecision(ids: RequestIds): void {
  const state = decisionOf(ids)?.state;
  if (state === undefined) return;
  if (state.kind === 'delayed') state.held.cancel();
  decisions.update((before) => new Map([...before].filter(([each]) => each !== requestKey(ids))));
}

export function sendDecision(answer: GivenAnswer, about: About): void {
  void sendAttempt(attemptOf(answer, about), about);
}

/**
 * Sends an approval once it cannot be undone any more, if the request then still is as it was `seen`. An earlier one
 * that waits is sent now. If there is no time for another look, the digest alone guards it.
 */
export function holdDecision(given: GivenAnswer, { summary, ...about }: About & { summary: string }, seen: Seen): void {
  for (const { state } of decisions.get().values()) if (state.kind === 'delayed') state.held.endNow();
  const attempt = attemptOf(given, about);
  const send = (): void => void sendAttempt(attempt, about);
  const delayMs = undoTimeMs([seen.request.deadline]);
  if (delayMs === undefined) return send();
  const held = holdBack(delayMs, {
    send,
    drop: (why) => setState(about, { kind: 'dropped', why }),
    check: () => whyNotSent(about, seen),
    isFragile: !isKeptAlive(JSON.stringify(attempt)),
  });
  setState(about, { kind: 'delayed', held, summary });
}

export function dropDecision(ids: RequestIds, why: string): void {
  const given = decisionOf(ids);
  if (given?.state.kind !== 'delayed') return;
  given.state.held.cancel();
  setState(given, { kind: 'dropped', why });
}

// Another person may sign in on this page next, and no approval is sent in their name.
let signedIn: string | undefined;
session.subscribe(() => {
  const id = meOf(session.get())?.id;
  if (signedIn !== undefined && id !== signedIn) {
    for (const each of decisions.get().values()) dropDecision(each, 'you signed out');
  }
  signedIn = id;
});

function attemptOf(answer: GivenAnswer, { digest, viewed }: About): Attempt {
  return { ...answer, digest, viewed, decisionId: newMessageId() };
}

async function sendAttempt(attempt: Attempt, about: About): Promise<void> {
  setState(about, { kind: 'sending' });
  try {
    const receipt = await sendAgain(() => sendJson<Receipt>('POST', requestPath(about, '', 'approve'), attempt));
    setState(about, { kind: 'done', receipt, approved: attempt.approved, decisionId: attempt.decisionId });
  } catch (error) {
    const problem = asProblem(error);
    if (isAnswerLost(problem)) setState(about, { kind: 'unsure', again: () => void sendAttempt(attempt, about) });
    else setState(about, { kind: 'refused', problem });
  }
}

/** Why an approval must not be sent: the request is another one now. Undefined also if it cannot be read. */
async function whyNotSent(ids: RequestIds, seen: Seen): Promise<string | undefined> {
  try {
    const { request } = await getJson<ApprovalView>(requestPath(ids));
    if (request.settled !== undefined) return `it is settled already: ${request.settled.outcome}`;
    const isSame = seen.isPart
      ? request.digest === seen.request.digest
      : decidingTexts(request) === decidingTexts(seen.request);
    return isSame ? undefined : 'the request has changed. Look at it again';
  } catch {
    return undefined;
  }
}

/** The answer to a request. `then` runs whenever something has become of it. */
export function useDecision(ids: RequestIds, then: () => void): DecisionState {
  const state = useStore(decisions).get(requestKey(ids))?.state ?? { kind: 'idle' };
  const before = useRef(state.kind);
  useEffect(() => {
    const isNew = before.current !== state.kind;
    before.current = state.kind;
    if (isNew && !['idle', 'delayed', 'sending'].includes(state.kind)) then();
  }, [state.kind]);
  // What was seen on the view of the request is not shown over other views, too.
  useEffect(
    () => () => {
      if (['refused', 'dropped'].includes(decisionOf(ids)?.state.kind ?? 'idle')) forgetDecision(ids);
    },
    [],
  );
  return state;
}
