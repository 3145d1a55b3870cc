/**
 * The runs of a chat. A front end names its thread by a text of its own choice, so a run belongs to the principal, the
 * agent, the thread and the messages of the user together: nobody can join the run of another person by its name.
 */
import { createHash } from 'node:crypto';
import { keyedStart } from 'countersign/adapter';
import type { CountersignClient } from 'countersign/client';
import type { Principal } from '../identity/principal.ts';

/** A thread of one person with one agent. */
export interface ChatThread {
  client: CountersignClient;
  principal: Principal;
  agent: string;
  threadId: string;
}

const answerShape = /^([0-9a-f]{32})\.([0-9a-f]{32})$/;

/** The id of a turn: 32 hex characters, from all texts of the user so far. A run handles the last one; earlier ones are its context. */
export function turnOf(texts: readonly string[]): string {
  return hashOf(texts).slice(0, 32);
}

/** Starts the run of a turn, or finds it if it was started before. Returns its workflow id. */
export async function startTurn(thread: ChatThread, texts: readonly string[]): Promise<string> {
  const { client, principal, agent } = thread;
  const run = await client.start(
    agent,
    texts.map((content) => ({ role: 'user' as const, content })),
    {
      idempotencyKey: keyOf(thread, turnOf(texts)),
      caller: { userId: principal.id, groups: [...principal.groups] },
    },
  );
  return run.workflowId;
}

/** The workflow id of a turn, whether its run was started or not. */
export function workflowOfTurn(thread: ChatThread, turn: string): string {
  const input = { agent: thread.agent, input: '' };
  return keyedStart({ idempotencyKey: keyOf(thread, turn) }, input).workflowId;
}

/** The id under which a front end answers a request. It includes the turn, so that the run is found without the messages. */
export function answerIdOf(requestId: string, turn: string): string {
  return `${requestId}.${turn}`;
}

/** The parts of `answerIdOf`; undefined for any other text. */
export function parseAnswerId(id: string): { requestId: string; turn: string } | undefined {
  const [, requestId, turn] = answerShape.exec(id) ?? [];
  return requestId === undefined || turn === undefined ? undefined : { requestId, turn };
}

/** Ids of calls are unique in a run only; a front end needs them unique in a thread. */
export function callIdPrefix(workflowId: string): string {
  return hashOf([workflowId]).slice(0, 16);
}

function keyOf({ principal, agent, threadId }: ChatThread, turn: string): string {
  return `chat:${hashOf([principal.key, agent, threadId, turn])}`;
}

export function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}
