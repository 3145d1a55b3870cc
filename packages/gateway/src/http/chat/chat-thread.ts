/**
 * The runs of a chat. A front end chooses the name of its thread, so a run belongs to the principal, the agent and the
 * thread together: a person cannot join another person's run by its name.
 */
import { createHash } from 'node:crypto';
import { keyedStart } from 'countersign/adapter';
import type { CountersignClient, Receipt } from 'countersign/client';
import type { Principal } from '../identity/principal.ts';

export interface ChatThread {
  client: CountersignClient;
  principal: Principal;
  agent: string;
  threadId: string;
  /** The address of the web inbox, for links. Absent: it is not known. */
  inbox?: string;
}

/**
 * Which run of a thread: the number of its session, from 0, since a thread outlives a session that has ended; or, in
 * threads of older gateways, the turn of the user that a run was started for, as 32 hex characters.
 */
export type RunOfThread = number | string;

const answerShape = /^([0-9a-f]{32})\.(?:([0-9a-f]{32})|s([0-9]{1,6}))$/;

export function keyOf({ principal, agent, threadId }: ChatThread, run: RunOfThread): string {
  const which = typeof run === 'number' ? `session ${run}` : run;
  return `chat:${hashOf([principal.key, agent, threadId, which])}`;
}

/** The workflow id of a run of a thread, started or not. */
export function workflowOf(thread: ChatThread, run: RunOfThread): string {
  return keyedStart({ idempotencyKey: keyOf(thread, run) }, { agent: thread.agent, input: '' }).workflowId;
}

/** The turn for which older gateways started a run: all texts of the user so far. */
export function turnOf(texts: readonly string[]): string {
  return hashOf(texts).slice(0, 32);
}

/** The id under which a front end answers a request names its run, so that the gateway needs no messages to find it. */
export function answerIdOf(requestId: string, run: RunOfThread): string {
  return `${requestId}.${typeof run === 'number' ? `s${run}` : run}`;
}

/** The parts of `answerIdOf`; undefined for any other text. */
export function parseAnswerId(id: string): { requestId: string; run: RunOfThread } | undefined {
  const [, requestId, turn, session] = answerShape.exec(id) ?? [];
  if (requestId === undefined) return undefined;
  return { requestId, run: turn ?? Number(session) };
}

const callIdShape = /^[0-9a-f]{16}s([0-9]{1,6})-/;

/** Ids of calls and texts are unique in a run only; a front end needs them unique in a thread. */
export function callIdPrefix(workflowId: string, run: RunOfThread): string {
  return `${hashOf([workflowId]).slice(0, 16)}${typeof run === 'number' ? `s${run}` : ''}`;
}

/** The newest session that the front end knows, by its ids. A false claim finds another one of this thread, or none. */
export function newestSession(ids: Iterable<string>): number {
  const found = Array.from(ids, (id) => Number(callIdShape.exec(id)?.[1] ?? answerShape.exec(id)?.[3] ?? 0));
  return found.reduce((newest, each) => Math.max(newest, each), 0);
}

export function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

export interface SeenItems {
  calls: ReadonlySet<string>;
  results: ReadonlySet<string>;
  texts: ReadonlySet<string>;
  answers: ReadonlySet<string>;
  /** The calls that are only in messages that the stream does not continue. The stream cannot change such a message. */
  elsewhere?: ReadonlySet<string>;
}

export const nothingSeen: SeenItems = { calls: new Set(), results: new Set(), texts: new Set(), answers: new Set() };

export interface ChatRun {
  thread: ChatThread;
  run: RunOfThread;
  workflowId: string;
  /** The id of the user's message whose turn is followed. Default: the last one. */
  said?: string;
  seen: SeenItems;
  receipts: readonly Receipt[];
  signal: AbortSignal;
  waitMs: number;
}
