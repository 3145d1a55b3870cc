import { useEffect, useRef } from 'preact/hooks';
import type { Receipt, Viewed } from 'countersign/client';
import { decidingTexts } from 'countersign/card';
import type { ApprovalView, DecisionBody } from '../../http/inbox/api.ts';
import * as api from '../api/fetch-json.ts';
import { meOf, session } from '../state/me.ts';
import { requestKey, type RequestIds } from '../state/paths.ts';
import { createStore, useStore } from '../state/store.ts';
import { type HeldBack, holdBack, undoTimeMs } from './hold-back.ts';

export type GivenAnswer = Omit<DecisionBody, 'decisionId' | 'digest' | 'viewed'>;

/** The body of a decision. A retry sends the same body again. */
type Attempt = DecisionBody & { decisionId: string };

export type DecisionState =
  | { kind: 'idle' }
  | { kind: 'delayed'; held: HeldBack; summary: string }
  | { kind: 'sending' }
  /** The response was lost, so the gateway may have the decision or not. `again` sends the same decision again. */
  | { kind: 'unsure'; again: () => void }
  | { kind: 'refused'; problem: api.ApiProblem }
  | { kind: 'dropped'; why: string }
  | { kind: 'done'; receipt: Receipt; approved: boolean; decisionId: string };

/** The request of an answer, as it was shown. Other views show its `sentence` beside what became of the answer. */
interface About extends RequestIds {
  digest: string;
  viewed: Viewed;
  sentence: string;
}

/** The request as the reviewer saw it when they approved. `isPart`: the page showed only what the list's row has. */
interface Seen {
  request: ApprovalView['request'];
  isPart: boolean;
}

export interface GivenDecision extends About {
  state: DecisionState;
}

/** The answers that the user gave on this page, by request, the newest last. They stay when the view changes. */
export const decisions = createStore<ReadonlyMap<string, GivenDecision>>(new Map());

/** Notes the state of an answer in `decisions`, and makes the answer the newest. */
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

/** True if the user has answered the request on this page. The list may not know that yet. */
export function isAnswered(ids: RequestIds): boolean {
  return ['delayed', 'sending', 'done'].includes(decisionOf(ids)?.state.kind ?? 'idle');
}

/** True if an answer on this page has settled the request. The list may not know that yet. */
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
 * Sends an approval after the time in which it can be undone, unless the request has changed by then. If a deadline is
 * near, sends the approval at once. An earlier approval that still waits is sent first.
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
    isFragile: !api.isKeptAlive(JSON.stringify(attempt)),
  });
  setState(about, { kind: 'delayed', held, summary });
}

export function dropDecision(ids: RequestIds, why: string): void {
  const given = decisionOf(ids);
  if (given?.state.kind !== 'delayed') return;
  given.state.held.cancel();
  setState(given, { kind: 'dropped', why });
}

// A sign-out drops delayed approvals, because another person may sign in on this page.
let signedIn: string | undefined;
session.subscribe(() => {
  const id = meOf(session.get())?.id;
  if (signedIn !== undefined && id !== signedIn) {
    for (const each of decisions.get().values()) dropDecision(each, 'you signed out');
  }
  signedIn = id;
});

function attemptOf(answer: GivenAnswer, { digest, viewed }: About): Attempt {
  return { ...answer, digest, viewed, decisionId: api.newMessageId() };
}

/** Sends an answer, and notes in `decisions` what became of it. Never rejects. */
async function sendAttempt(attempt: Attempt, about: About): Promise<void> {
  setState(about, { kind: 'sending' });
  try {
    const receipt = await api.sendAgain(() =>
      api.sendJson<Receipt>('POST', api.requestPath(about, '', 'approve'), attempt),
    );
    setState(about, { kind: 'done', receipt, approved: attempt.approved, decisionId: attempt.decisionId });
  } catch (error) {
    const problem = api.asProblem(error);
    if (api.isAnswerLost(problem)) setState(about, { kind: 'unsure', again: () => void sendAttempt(attempt, about) });
    else setState(about, { kind: 'refused', problem });
  }
}

/** Says why an approval must not be sent: the request is settled or has changed. Undefined if neither is known. */
async function whyNotSent(ids: RequestIds, seen: Seen): Promise<string | undefined> {
  try {
    const { request } = await api.getJson<ApprovalView>(api.requestPath(ids));
    if (request.settled !== undefined) return `it is settled already: ${request.settled.outcome}`;
    const isSame = seen.isPart
      ? request.digest === seen.request.digest
      : decidingTexts(request) === decidingTexts(seen.request);
    return isSame ? undefined : 'the request has changed. Look at it again';
  } catch {
    // If the request cannot be read, as without a worker, the run decides by the digest of the answer.
    return undefined;
  }
}
/** The state of the answer to a request. Calls `then` when the answer was accepted, refused, lost or dropped. */
export function useDecision(ids: RequestIds, then: () => void): DecisionState {
  const state = useStore(decisions).get(requestKey(ids))?.state ?? { kind: 'idle' };
  const before = useRef(state.kind);
  useEffect(() => {
    const isNew = before.current !== state.kind;
    before.current = state.kind;
    if (isNew && !['idle', 'delayed', 'sending'].includes(state.kind)) then();
  }, [state.kind]);
  // When the user leaves the request, its refusal is forgotten: otherwise `DecisionBar` would show it on other views.
  useEffect(
    () => () => {
      if (['refused', 'dropped'].includes(decisionOf(ids)?.state.kind ?? 'idle')) forgetDecision(ids);
    },
    [],
  );
  return state;
}
