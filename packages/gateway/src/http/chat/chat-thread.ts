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
  /** The address of the web inbox, for links. Absent: the gateway does not know how browsers reach it. */
  inbox?: string;
}

/**
 * A run of a thread by its number, from 0: when a run has ended, the thread continues with the next one. A run of an
 * older gateway has a hash of `turnOf` instead, because such a gateway started one run for each turn of the user.
 */
export type RunOfThread = number | string;

const answerShape = /^([0-9a-f]{32})\.(?:([0-9a-f]{32})|s([0-9]{1,6}))$/;

export function keyOf({ principal, agent, threadId }: ChatThread, run: RunOfThread): string {
  const which = typeof run === 'number' ? `session ${run}` : run;
  return `chat:${hashOf([principal.key, agent, threadId, which])}`;
}

/** The workflow id of a run of a thread. The run need not exist yet. */
export function workflowOf(thread: ChatThread, run: RunOfThread): string {
  return keyedStart({ idempotencyKey: keyOf(thread, run) }, { agent: thread.agent, input: '' }).workflowId;
}

/** The name of a turn, for which older gateways started a run: a hash of all texts of the user so far. */
export function turnOf(texts: readonly string[]): string {
  return hashOf(texts).slice(0, 32);
}

/** The id under which a front end answers a request. It names the run, so the gateway finds the run without state. */
export function answerIdOf(requestId: string, run: RunOfThread): string {
  return `${requestId}.${typeof run === 'number' ? `s${run}` : run}`;
}

/** The parts of an id of `answerIdOf`; undefined for any other text. */
export function parseAnswerId(id: string): { requestId: string; run: RunOfThread } | undefined {
  const [, requestId, turn, session] = answerShape.exec(id) ?? [];
  if (requestId === undefined) return undefined;
  return { requestId, run: turn ?? Number(session) };
}

const callIdShape = /^[0-9a-f]{16}s([0-9]{1,6})-/;

/** The prefix that makes the ids of calls and texts, which are unique in a run, unique in the whole thread. */
export function callIdPrefix(workflowId: string, run: RunOfThread): string {
  return `${hashOf([workflowId]).slice(0, 16)}${typeof run === 'number' ? `s${run}` : ''}`;
}

/** The number of the newest run in the ids of a front end. A forged id can only lead to a run of the same thread. */
export function newestSession(ids: Iterable<string>): number {
  const found = Array.from(ids, (id) => Number(callIdShape.exec(id)?.[1] ?? answerShape.exec(id)?.[3] ?? 0));
  return found.reduce((newest, each) => Math.max(newest, each), 0);
}

export function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** The ids of what the front end has: calls, results of calls, texts of the model, and answers to requests. */
export interface SeenItems {
  calls: ReadonlySet<string>;
  results: ReadonlySet<string>;
  texts: ReadonlySet<string>;
  answers: ReadonlySet<string>;
  /** The calls in other messages than the one that the stream continues. The stream cannot change other messages. */
  elsewhere?: ReadonlySet<string>;
}

export const nothingSeen: SeenItems = { calls: new Set(), results: new Set(), texts: new Set(), answers: new Set() };

export interface ChatRun {
  thread: ChatThread;
  run: RunOfThread;
  workflowId: string;
  /** The id of the user's new message, whose turn the stream follows. Absent: the user wrote no new message. */
  said?: string;
  seen: SeenItems;
  receipts: readonly Receipt[];
  signal: AbortSignal;
  /** How long a stream with open requests waits for other events before it ends, in milliseconds. */
  waitMs: number;
}
