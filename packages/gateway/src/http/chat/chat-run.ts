/**
 * Follows the run of a chat in steps, until it waits for the person who chats or ends. Nothing is stored: steps that the
 * front end says it has seen are left out, and a false claim changes only its own view.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedEvent, RunEvent } from 'countersign/client';
import { ChatProgress } from './chat-progress.ts';
import type { ChatRun } from './seen-run.ts';
import type { ChatStep } from './chat-step.ts';

/**
 * How long open requests wait for other calls of the same turn to go on, in milliseconds. Then the stream ends
 * with what is open; the results of the others come with the next one.
 */
const longestWaitMs = 5_000;

export async function* followChat(run: ChatRun): AsyncGenerator<ChatStep, void, undefined> {
  const { thread, workflowId, receipts, signal } = run;
  const { client, principal } = thread;
  // Only a reviewer can end the wait here. Everybody else waits for one.
  const canAnswer = principal.roles.includes('reviewer');
  const progress = new ChatProgress(run);
  if (receipts.length > 0) yield { type: 'receipts', receipts: [...receipts] };

  const past: RecordedEvent[] = [];
  for await (const event of client.events(workflowId, { follow: false, tokens: false, redacted: true, signal })) {
    if (event.type !== 'RawResponseEvent') past.push(event);
  }
  progress.expect(past);
  for (const event of past) yield* progress.add(event);

  const stop = new AbortController();
  const after = past.at(-1)?.id;
  const watched = AbortSignal.any([signal, stop.signal]);
  const events = client.events(workflowId, { ...(after !== undefined && { after }), redacted: true, signal: watched });
  const live = events[Symbol.asyncIterator]();
  try {
    let next = live.next();
    while (!progress.isOver) {
      const asks = canAnswer && progress.asks;
      if (asks && progress.isIdle) return yield* progress.wait();
      const result = asks ? await within(next, longestWaitMs) : await next;
      if (result === 'late') return yield* progress.wait();
      if (result.done === true) return;
      yield* progress.add(result.value);
      next = live.next();
    }
  } finally {
    stop.abort();
  }
}

async function within(
  next: Promise<IteratorResult<RunEvent>>,
  milliseconds: number,
): Promise<IteratorResult<RunEvent> | 'late'> {
  const timer = new AbortController();
  const late = sleep(milliseconds, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
  try {
    return await Promise.race([next, late]);
  } finally {
    timer.abort();
  }
}
